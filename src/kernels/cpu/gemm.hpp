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

/// Which product computes the tiles of a matmul.
enum class Gemm {
  vendor,       ///< the BLAS in libtorch_cpu (gemm_vendor_blas.cpp), else ATen
                ///< (gemm_vendor_aten.cpp)
  vendor_bf16,  ///< its product of BFloat16 where vendor_has_bf16(); of float: rounded to that
  tiles,        ///< ours (gemm_tiles.cpp): the same bits for every cut into tiles
  pairs,        ///< ours, of BFloat16 where has_pairs() (gemm_pairs.cpp): likewise; of float:
                ///< rounded to that
};

/// The faster one on this processor. MKL keeps to AVX2 on processors that are not Intel's: on AMD's
/// Zen 5 it reaches 98 GFLOP/s a core where our tiles reach 230 with AVX-512 and 115 with AVX2. Of
/// BFloat16: the vendor's with AMX, else pairs, else tiles. Of Float16: tiles.
/// Of float with inputs that may be rounded: what is preferred of BFloat16 where the processor has
/// units for it, else as of whole ones. What force_gemm() was given goes before all of this.
template <class T>
Gemm preferred_gemm(MatmulInputs inputs = MatmulInputs::whole);

/// For tests: from now on this product is preferred wherever it can multiply, as if the processor
/// were one on which it is the faster one. `vendor` is so for float and double, `vendor_bf16` and
/// `pairs` for BFloat16 and for float that may be rounded, `tiles` for all; the other elements keep
/// what was preferred. To be called before the first matmul().
/// requires  for pairs: has_pairs(); for vendor_bf16: vendor_has_bf16()
void force_gemm(Gemm gemm);
/// What was forced for float and double, and for narrower inputs.
struct ForcedGemm {
  std::optional<Gemm> whole, narrow;
};
extern ForcedGemm forced_gemm;

/// matmul_into() with a choice of the product.
template <class T, class C>
void matmul_by(Gemm gemm, Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
               Addend<C> addend);

/// Whether gemm_vendor() runs on the calling thread alone, so that tiles can be spread over a pool.
extern const bool vendor_is_single_threaded;

/// c = op(a) op(b), or += with `add`. No size is zero. T: float or double.
template <class T>
void gemm_vendor(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add);

/// The same of BFloat16, summed in fp32, by MKL's cblas_gemm_bf16bf16f32: AMX where there is one.
/// Or of float, rounded to BFloat16 in at most 400 KB of stack.
/// requires  vendor_has_bf16()
template <class T, class C>
void gemm_vendor_bf16(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, bool add);
bool vendor_has_bf16();

/// c = op(a) op(b) + addend by one thread, in at most 600 KB of stack. T: also BFloat16 or Float16,
/// then C may be float.
template <class T, class C>
void gemm_tiles(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend);

/// Whether the processor multiplies pairs of BFloat16.
bool has_pairs();

/// gemm_tiles() by that instruction, in at most 600 KB of stack. Subnormal numbers count as zero.
/// T: BFloat16, or float, which is rounded to it as it is packed.
/// requires  has_pairs()
template <class T, class C>
void gemm_pairs(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend);

}  // namespace sinter::kernel
