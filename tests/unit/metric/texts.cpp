// SPDX-License-Identifier: Apache-2.0
// Metrics of texts by the figures of sacrebleu, rouge_score, SQuAD and ParlAI, and over parts.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "metric/words.hpp"
#include "sinter/metric/bleu.hpp"
#include "sinter/metric/distinct.hpp"
#include "sinter/metric/exact_match.hpp"
#include "sinter/metric/generated_length.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/metric/rouge_l.hpp"
#include "sinter/metric/text_sums.hpp"
#include "sinter/metric/token_f1.hpp"

namespace sinter::detail::testing::text_metrics_tests {

using Squad = TokenF1<>;
using Parlai = TokenF1<Normalisation::parlai>;
static_assert(TextMetric<Bleu> && TextMetric<RougeL> && TextMetric<Distinct<2>>);
static_assert(!ClassMetric<Bleu> && !TokenMetric<Bleu>);
static_assert(Distinct<2>::name == "distinct_2" && DistinctInText<1>::name == "distinct_in_text_1");

struct Reply {
  std::string text;
  std::vector<std::string> references;
};

template <class M>
TextSums sums_of(const std::vector<Reply>& replies) {
  TextSums sums(M::sums);
  for (const Reply& reply : replies)
    M::add({reply.text, reply.references, std::int64_t(reply.text.size())}, sums);
  return sums;
}
template <class M>
double value_of(const std::vector<Reply>& replies) {
  return M::value(sums_of<M>(replies));
}
template <class M>
double value_of(const std::string& text, const std::string& reference) {
  return value_of<M>(std::vector<Reply>{{text, {reference}}});
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}
doctest::Approx near(double value) { return doctest::Approx(value).epsilon(1e-9); }

const std::vector<Reply> four{{"the cat sat on the mat .", {"the cat is on the mat ."}},
                              {"a dog", {"a dog barks"}},
                              {"", {"something"}},
                              {"Hello, world! it's 3.5%-ish", {"hello, world! It's 3.5 %-ish"}}};

TEST_CASE("the words of 13a are sacrebleu's") {
  CHECK(spaced(words_of_13a("U.S. is 1,000-2,000 e.g. \"x\" &amp; (y)")) ==
        "U . S . is 1,000 - 2,000 e . g . \" x \" & ( y )");
  CHECK(spaced(words_of_13a("a-b 3-4 a. .b 5. .6 x,y 1,2")) ==
        "a-b 3 - 4 a . . b 5 . . 6 x , y 1,2");
  CHECK(spaced(words_of_13a("a<skipped>b well-\nknown &quot;x&quot; one\ntwo")) ==
        "ab wellknown \" x \" one two");
  CHECK(spaced(words_of_13a("a-\n")) == "a-");
  CHECK(spaced(words_of_13a("l\xe2\x80\x99\xc3\xa9t\xc3\xa9\xc2\xa0\xe2\x80\x9cx\xe2\x80\x9d")) ==
        "l\xe2\x80\x99\xc3\xa9t\xc3\xa9 \xe2\x80\x9cx\xe2\x80\x9d");
}

TEST_CASE("BLEU is sacrebleu's of the corpus") {
  const TextSums sums = sums_of<Bleu>(four);
  CHECK(sums.sums == std::vector<double>{17, 19, 14, 9, 4, 1, 17, 14, 11, 9});
  // sacrebleu 2.6.0
  CHECK(Bleu::value(sums) == near(33.99860734142351));
  CHECK(value_of<Bleu>("a b c d e", "a b x d e") == near(30.213753973567677));
  CHECK(value_of<Bleu>("a b", "a b") == 0);
  CHECK(value_of<Bleu>("", "a b c d") == 0);
  CHECK(value_of<Bleu>("x y z w", "a b c d") == 0);
  CHECK(value_of<Bleu>("a b c d e", "a b c d e") == near(100));
}

TEST_CASE("several references clip by the largest count, and the closest length counts") {
  const TextSums sums = sums_of<Bleu>({{"the the cat sat", {"the cat", "the the dog sat on it"}}});
  CHECK(sums.sums[0] == 4);
  CHECK(sums.sums[1] == 2);  // 2 and 6 are as close: the shorter
  CHECK(sums.sums[2] == 4);
  CHECK(sums.sums[3] == 2);
  CHECK(value_of<RougeL>({{"a dog", {"a cat", "a dog barks"}}}) == near(0.8));
  CHECK(value_of<Squad>({{"red dog", {"x", "red dog barks"}}}) == near(0.8));
  CHECK(value_of<ExactMatch<>>({{"the Dog!", {"cat", "dog"}}}) == 1);
}

TEST_CASE("ROUGE-L is rouge_score's") {
  CHECK(value_of<RougeL>("the cat sat on the mat .", "the cat is on the mat .") == near(5. / 6));
  CHECK(value_of<RougeL>("a dog", "a dog barks") == near(0.8));
  CHECK(value_of<RougeL>("", "a dog") == 0);
  CHECK(value_of<RougeL>("\xe7\x8c\xab", "\xe7\x8c\xab") == 0);  // other scripts have no words
  CHECK(value_of<RougeL>("\xe2\x84\xaa", "k") == 1);             // the sign of the kelvin
  CHECK(value_of<RougeL>("x-RAY\nnew_line", "x ray new line") == 1);
}

TEST_CASE("words are normalised as SQuAD and as ParlAI do it") {
  const char *man = "It's a well-known man's U.S. test", *numbers = "3.5% of x-y";
  CHECK(spaced(normalised_words(man, Normalisation::squad)) == "its wellknown mans us test");
  CHECK(spaced(normalised_words(man, Normalisation::parlai)) == "it s well known man s u s test");
  CHECK(spaced(normalised_words(numbers, Normalisation::squad)) == "35 of xy");
  CHECK(spaced(normalised_words(numbers, Normalisation::parlai)) == "3 5 of x y");
  CHECK(spaced(normalised_words("The\xe2\x80\x94"
                                "an\xc3\xa9 AN theA",
                                Normalisation::squad)) ==
        "\xe2\x80\x94"
        "an\xc3\xa9 thea");
}

TEST_CASE("the F1 of words and exact matches") {
  CHECK(value_of<Squad>("It's red", "its red") == 1);
  CHECK(value_of<Parlai>("It's red", "its red") == near(0.4));
  CHECK(value_of<Squad>("x x y", "x y y") == near(2. / 3));
  CHECK(value_of<Squad>("the", "a") == 0);
  CHECK(value_of<ExactMatch<>>({{"the cat.", {"Cat"}}, {"dog", {"cat"}}}) == 0.5);
  CHECK(value_of<ExactMatch<Normalisation::parlai>>("it's", "its") == 0);
}

TEST_CASE("distinct n-grams of all texts and of each") {
  const std::vector<Reply> replies{{"x y x y", {""}}, {"x y z", {""}}, {"x", {""}}};
  CHECK(value_of<Distinct<1>>(replies) == near(3. / 8));
  CHECK(value_of<Distinct<2>>(replies) == near(3. / 5));  // xy, yx, yz
  CHECK(value_of<DistinctInText<2>>(replies) == near((2. / 3 + 1 + 0) / 3));
  CHECK(std::isnan(value_of<Distinct<3>>({{"x", {""}}})));
  CHECK(value_of<GeneratedLength>(replies) == 13. / 3);
}

template <class M>
void check_parts(const std::vector<Reply>& all) {
  TextSums whole = sums_of<M>(all);
  for (const std::size_t size : {1u, 3u, 7u}) {
    TextSums sums(M::sums);
    for (std::size_t at = 0; at < all.size(); at += size) {  // the last part first
      const std::size_t end = all.size() - at, begin = end > size ? end - size : 0;
      sums += sums_of<M>({all.begin() + std::ptrdiff_t(begin), all.begin() + std::ptrdiff_t(end)});
    }
    CAPTURE(M::name);
    CHECK(sums.sums == whole.sums);
    CHECK(M::value(sums) == M::value(whole));
  }
}

TEST_CASE("sums of parts in any order are the sums of the whole, to the bit") {
  std::mt19937 random(1);
  const char* words[] = {"the", "a", "cat", "Dog,", "3.5", "x-y", "it's", "\xc3\xa9t\xc3\xa9", "."};
  const auto text = [&] {
    std::string line;
    for (auto left = random() % 9; left > 0; --left) (line += words[random() % 9]) += " ";
    return line;
  };
  std::vector<Reply> all(200);
  for (Reply& reply : all) reply = {text(), {text(), text()}};
  check_parts<Bleu>(all);
  check_parts<RougeL>(all);
  check_parts<Squad>(all);
  check_parts<Parlai>(all);
  check_parts<ExactMatch<>>(all);
  check_parts<Distinct<1>>(all);
  check_parts<Distinct<2>>(all);
  check_parts<DistinctInText<2>>(all);
  check_parts<GeneratedLength>(all);
}

TEST_CASE("means without texts have no value") {
  CHECK(std::isnan(value_of<RougeL>({})));
  CHECK(std::isnan(value_of<Squad>({})));
  CHECK(std::isnan(value_of<ExactMatch<>>({})));
  CHECK(std::isnan(value_of<GeneratedLength>({})));
}

}  // namespace sinter::detail::testing::text_metrics_tests
