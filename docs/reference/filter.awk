# SPDX-License-Identifier: Apache-2.0
# Doxygen reads our headers through this. In them a comment is plain text: a contract (`requires`,
# `ensures`, `throws`) begins a line, with further lines indented below it, and formulas and tables are
# indented. Here these become what Doxygen has for them, and all else is kept from meaning anything to
# it. The comment that a header begins with becomes that of the file, and what stands in a namespace of
# ours becomes a part of the room, which is the folder of include/sinter. Members that the contract of a
# slot, of layers, of rules or of hooks asks for are not described at every policy: they get a link to it.
# The message of a rule describes it, unless a comment does.
# A line stays a line, so that warnings have the right numbers.

BEGIN {
  file = room = ARGV[1]
  sub(/.*\//, "", file)
  sub(/.*include\/sinter\//, "", room)
  room = room ~ /\// ? substr(room, 1, index(room, "/") - 1) : "root"
  in_head = 1

  asks("Policy", "slot Options options")
  if (room == "model") asks("ModelPolicy", "trace predict")
  if (room == "data") asks("DataPolicy", "context vocabulary")
  if (room == "data") asks("ChatFormat", "write problem")
  if (room == "data") asks("data_view.hpp", "unit paths_help open tokenizer prompt takes_tokenizer reads_text class_names has_examples has_replies")
  if (room == "precision")
    asks("PrecisionPolicy", "compute statistic gradient master accumulate")
  if (room == "precision") asks("slot_hooks.hpp", "state matmul_inputs")
  if (room == "optimizer") asks("OptimizerPolicy", "update regions learning_rate")
  if (room == "optimizer") asks("slot_hooks.hpp", "casts by_parameter workspace")
  if (room == "schedule") asks("SchedulePolicy", "factor")
  if (room == "schedule") asks("slot_hooks.hpp", "horizon")
  if (room == "metric") asks("ClassMetric", "greater_is_better sums add value")
  if (room == "clipping") asks("ClippingPolicy", "bound")
  if (room == "clipping") asks("slot_hooks.hpp", "limit")
  if (room == "batch") asks("BatchPolicy", "micro")
  if (room == "memory") asks("MemoryPolicy", "recomputed_inside Chosen fits")
  if (room == "memory") asks("slot_hooks.hpp", "keeps_whole")
  if (room == "parallel") asks("ParallelPolicy", "ranks reduces")
  if (room == "device") asks("DevicePolicy", "on_host open")
  if (room == "layer")
    asks("layer.hpp", "in out params saved cheap loss cross_entropy pools flops scratch forward backward cached extend")
  if (room == "layer") asks("layer.hpp", "takes_last skips_padding ids_below passes_gradient reads_weights_in_backward")
  asks("NamedSlot", "name decisive")
  asks("RuleList", "holds enforce reason")
  asks("hooks.hpp", "contradiction why_fixed offered note regions rules model_rules frozen")
  asks("hooks.hpp", "parameter_groups row_multiple rewrite rate_factor State initial loss_scale")
  asks("hooks.hpp", "after_step after_evaluation next_batch check_batch recover metrics early_stop")
  asks("hooks.hpp", "label_smoothing class_weights watches writes")
}

function asks(who, members,    names, n, i) {
  n = split(members, names, " ")
  for (i = 1; i <= n; ++i)
    if (!(names[i] in asked_by)) asked_by[names[i]] = who
}
# The name that a line declares as a static member or type of a class; "" if it does not.
function member_of(line) {
  if (line ~ /^  using [A-Za-z_]+ =/) {
    sub(/^  using /, "", line)
  } else {
    if (line !~ /^  (\[\[nodiscard\]\] )?static /) return ""
    if (!match(line, /[A-Za-z_]+(\(| =|\{|;)/)) return ""
    line = substr(line, RSTART)
  }
  match(line, /^[A-Za-z_]+/)
  return substr(line, 1, RLENGTH)
}

# Text that means itself. What stands between backquotes is code; in_code says whether we are there.
function plain(line,    parts, n, i, out) {
  gsub(/[\\@#%*&<>]/, "\\\\&", line)
  gsub(/--/, "\\--", line)
  if (line ~ /^[-+] /) line = "\\" line
  n = split(line, parts, "`")
  out = parts[1]
  for (i = 2; i <= n; ++i) {
    out = out (in_code ? "</code>" : "<code>") parts[i]
    in_code = !in_code
  }
  return out
}

# Where a sentence ends in a line; 0 if it goes on.
function end_of_sentence(line) {
  if (match(line, /([^l]|[^a]l)\. /)) return RSTART + RLENGTH - 2
  return line ~ /\.$/ ? length(line) : 0
}

# A line of prose. The first sentence of a comment is its summary.
function prose(line,    end, out) {
  if (!summing) return plain(line)
  end = end_of_sentence(line)
  if (!end) return plain(line)
  summing = 0
  out = plain(substr(line, 1, end))
  return end < length(line) ? out " \\details " plain(substr(line, end + 2)) : out " \\details"
}

# Prints the comment that has been read: text[1] … text[count], each with its indent. That of a hook joins those of
# the file.
function end_comment(    i, line, word, in_contract, in_table, hook) {
  hook = /^SINTER_(VALUE_|RECIPE_)?HOOK/
  if (count) {
    described = 1
    summary = ""
  }
  in_code = summing = 0
  for (i = 1; i <= count; ++i) {
    line = text[i]
    if (line ~ /^(requires|ensures|throws)  /) {
      in_contract = 1
      summing = 0
      word = substr(line, 1, index(line, " ") - 1)
      sub(/^[a-z]+ +/, "", line)
      line = " \\sinter" word " " plain(line)
    } else if (in_contract && line ~ /^      /) {
      sub(/^ +/, "", line)
      line = " " plain(line)
    } else if (line ~ /^  /) {
      in_contract = 0
      line = substr(line, 3)
      if (!in_table) line = (summing ? " \\details " : " ") "\\verbatim " line
      summing = 0
      in_table = i < count && text[i + 1] ~ /^  /
      if (!in_table) line = line " \\endverbatim"
    } else if (line != "") {
      in_contract = 0
      if (i == 1) summing = !hook
      line = (i == 1 ? (hook ? " \\file " file " " : " \\brief ") : " ") prose(line)
    }
    print (i == 1 && !in_head ? indent[i] "/**" : "") line (i == count ? " */" : "")
    summary = summary (i == 1 ? substr(line, 8) : line)
  }
  count = 0
}

function add(line, marker) {
  match(line, /^ */)
  indent[++count] = substr(line, 1, RLENGTH)
  line = substr(line, RLENGTH + 1 + length(marker))
  sub(/^ /, "", line)
  text[count] = line
}

# Splits a line that declares several variables: each gets the comment, where Doxygen would give it to
# one of them alone.
function split_declaration(line, comment,    type, names, n, i, out) {
  if (!match(line, /[a-z_0-9]+( = [^,;()]+|\{[^{}]*\})?(, [a-z_0-9]+( = [^,;()]+|\{[^{}]*\})?)+;/))
    return line
  type = substr(line, 1, RSTART - 1)
  if (type !~ /[A-Za-z0-9_>*] $/ || type ~ /\(|using|return/) return line
  n = split(substr(line, RSTART, RLENGTH - 1), names, ", ")
  for (i = 1; i <= n; ++i) out = out "/** \\brief " comment " */ " type names[i] "; "
  return out
}

function with_link(line, comment,    out) {
  out = line ~ /, .*;$/ ? split_declaration(line, comment) : line
  return out == line ? "/** \\brief " comment " */ " line : out
}

# What the form of a declaration says of it. Macros that only serve others are left out, and so are the
# members that compilers write.
function describe_by_form(line,    name) {
  if (in_macro || line ~ /^ *#define /) {
    in_macro = line ~ /\\$/
    return ""
  }
  if (line ~ /^ .*= default;$/) return ""
  if (room == "layer" && line ~ /^  struct (Params|Saved) \{$|^    (T|Statistic) [a-z_, ]+;/)
    return with_link(line, "See layer.hpp.")
  if (line ~ /^auto [a-z_]+\(\) \{$/)
    return "/** \\brief A compile error: named where it holds, never called. */ " line
  if (match(line, /^struct [A-Za-z0-9]+(Options|State) \{$/)) {
    name = substr(line, 8, RLENGTH - 9)
    if (sub(/Options$/, "", name)) return "/** \\brief The options of " name ". */ " line
    sub(/State$/, "", name)
    return "/** \\brief The run state of " name ". */ " line
  }
  return line
}

# A rule that a macro defines, as a struct.
function rule_of(code,    parts, message, end) {
  split(code, parts, /[(, ]+/)
  if (described) return "struct " parts[2] " {};"
  gsub(/" +"/, "", code)
  match(code, /"([^"\\]|\\.)*"/)
  message = substr(code, RSTART + 1, RLENGTH - 2)
  gsub(/\\"/, "\"", message)
  end = end_of_sentence(message)
  return "/** \\brief A rule, with this error: " plain(substr(message, 1, end)) " \\details " \
    plain(substr(message, end + 2)) " */ struct " parts[2] " {};"
}

NR == 1 { print "/** \\file"; next }
in_head && /^\/\// { add($0, "//"); next }
in_head {
  print_head = count ? "" : "*/ "
  end_comment()
  in_head = 0
  $0 = print_head $0
}

/^ *\/\/\/([^<]|$)/ { add($0, "///"); next }
{ end_comment() }

in_rule || /^SINTER_(MODEL_)?RULE\(/ {
  in_rule = !/\);$/
  rule = rule $0
  print in_rule ? "" : rule_of(rule)
  if (!in_rule) rule = described = ""
  next
}

match($0, /\/\/\/< /) {
  if ($0 !~ /^ *\/\/\/</) in_code = 0
  code = substr($0, 1, RSTART - 1)
  comment = plain(substr($0, RSTART + 5))
  line = code ~ /, .*; *$/ ? split_declaration(code, comment) : code
  print line == code ? code "///< " comment : line
  described = 0
  next
}

{
  member = member_of($0)
  if (described && /^#define .*\\$/) in_documented = 1
  if (described && /, .*;/) line = split_declaration($0, summary)
  else if (described || in_documented) line = $0
  else if (member in asked_by) line = with_link($0, "See " asked_by[member] ".")
  else line = describe_by_form($0)
  if (in_documented && !/\\$/) in_documented = 0
  if (!/^ *(template|requires)/) described = 0
}
line ~ /^namespace sinter.* \{$/ { line = line " /** \\addtogroup " room " */ /** \\{ */" }
line ~ /^\}  \/\/ namespace sinter/ { line = "/** \\} */ " line }
{ print line }
END { end_comment() }
