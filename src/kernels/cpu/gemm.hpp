// SPDX-License-Identifier: Apache-2.0
// The products behind matmul(): the vendor's, and our own tiles.
#pragma once
#include <optional>

#include "sinter/kernels/matmul.hpp"

namespace sinter::kernel {

/// Rows [first, last) of op(m).
template <class T>
Matrix<T> rows_of(Matrix<T> m, int first, int last) {
  if (m.transposed) return {m.data + first, m.rows, last - first, m.stride, true};
  return {m.data + first * m.stride, last - first, m.columns, m.stride, false};
}

/// Columns [first, last) of op(m).
template <class T>
Matrix<T> columns_of(Matrix<T> m, int first, int last) {
  if (m.transposed) return {m.data + first * m.stride, last - first, m.columns, m.stride, true};
  return {m.data + first, m.rows, last - first, m.stride, false};
}

/// The address of element (row, column) of op(m).
template <class T>
T* element_of(const Matrix<T>& m, int row, int column) {
  return m.transposed ? m.data + column * m.stride + row : m.data + row * m.stride + column;
}

/// Which product computes the tiles of a matmul.
enum class Gemm {
  vendor,  ///< MKL in libtorch_cpu (gemm_vendor.cpp), where has_vendor()
  tiles,   ///< ours (gemm_tiles.cpp, and gemm_few.cpp for few rows): the bits are the same for
           ///< every cut into tiles
  pairs,   ///< ours of BFloat16 (gemm_pairs.cpp), where has_pairs(): likewise; float is rounded to
           ///< that
  amx,     ///< ours of BFloat16 (gemm_amx.cpp), where has_amx(): as pairs
  few,     ///< ours of narrow elements (gemm_few_narrow.cpp) where c has fewer rows than min_rows,
           ///< else tiles: the bits of a row are the same beside any others
};

/// The fastest product on this processor. For float and double: tiles where has_vendor() denies, and
/// where the processor is not Intel's: MKL keeps to AVX2 on processors
/// that are not Intel's; on AMD's Zen 5 it reaches 98 GFLOP/s a core where our tiles reach 230 with
/// AVX-512 and 115 with AVX2. Intel's keep MKL: tiles reach 0.75 to 1.05 of it there. For BFloat16:
/// amx, else pairs, else tiles. For Float16: tiles. For float inputs that may be rounded: what is
/// preferred for BFloat16 where the processor has instructions for it, else as for whole ones. What
/// force_gemm() was given goes before all of this.
template <class T>
Gemm preferred_gemm(MatmulInputs inputs = MatmulInputs::whole);

/// For tests: from now on this product is preferred wherever it can multiply, as if it were the
/// fastest on this processor. `vendor` multiplies float and double, `pairs` and `amx` BFloat16 and
/// float that may be rounded, `tiles` all but Float16, which keeps to them anyway; the other
/// elements keep what was preferred.
/// requires  no matmul() was called yet; for vendor: has_vendor(); for pairs: has_pairs(); for
///           amx: has_amx()
void force_gemm(Gemm gemm);
/// The forced products for float and double, and for narrower inputs.
struct ForcedGemm {
  std::optional<Gemm> whole, narrow;
};
extern ForcedGemm forced_gemm;

/// matmul_into() with a choice of the product.
template <class T, class C>
void matmul_by(Gemm gemm, Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
               Addend<C> addend);

/// True if LibTorch is found and not refused (do_without_libtorch()), and has an MKL that can be
/// limited to the calling thread. Opens it, once.
bool has_vendor();

/// c = op(a) op(b), or += with `add`, by one thread. T: float or double.
/// requires  has_vendor(), and no size is zero
template <class T>
void gemm_vendor(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add);

/// c = op(a) op(b) + addend by one thread, in at most 600 KB of stack. T may also be BFloat16 or
/// Float16, and then C may be float.
template <class T, class C>
void gemm_tiles(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend);

/// For fewer rows of c than these, gemm_few() is faster than gemm_tiles().
inline constexpr int min_rows = 12;

/// gemm_tiles() for few rows, without packing, in at most 60 KB of stack. T: float or double.
/// requires  c.rows < min_rows
template <class T>
void gemm_few(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Addend<T> addend);

/// The same of narrow elements, which are widened in registers: sums are fp32, as in gemm_tiles(), in
/// another order. In at most 70 KB of stack. C: T or float.
/// requires  c.rows < min_rows
template <class T, class C>
void gemm_few_narrow(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend);

/// True if the processor multiplies pairs of BFloat16.
bool has_pairs();

/// gemm_tiles() by that instruction, in at most 600 KB of stack. Subnormal numbers count as zero.
/// T: BFloat16, or float, which is rounded to it as it is packed.
/// requires  has_pairs()
template <class T, class C>
void gemm_pairs(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend);

/// True if the processor multiplies tiles of BFloat16 and the system permits this process to; asks
/// it once. False if AVX-512 is switched off, or a signal's stack is too small for the state of
/// tiles.
bool has_amx();

/// gemm_pairs() by tiles of the processor, in at most 1.2 MB of stack. The calling thread has no
/// tiles of its own before and after. Even and odd numbers of the depth are summed apart within 32
/// of them: other bits than those of pairs, the same for every cut into tiles.
/// requires  has_amx()
template <class T, class C>
void gemm_amx(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend);

}  // namespace sinter::kernel
