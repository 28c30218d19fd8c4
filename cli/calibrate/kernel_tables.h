// From rows of measured kernels to tables that laws are fitted to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/kernel_samples.h"
#include "cli/calibrate/measured_rows.h"

namespace treeline {

/// Reads files, or all tables of the device in a folder (those whose names begin with the device's, up to a hyphen, and '_':
/// h100_gemm.csv for h100-sxm). What a row is follows from the file's "benchmark" values or from its columns:
///   gemm:             dtype, m, n, k
///   attention_decode: batch, query_tokens, context, q_heads, kv_heads, head_dim, window, kv_dtype
///   recurrent_verify: fused_conv, batch, tokens, heads, head_k_dim, head_v_dim, state_dtype
///   conv1d:           phase, batch, tokens, channels, d_conv
/// Rows that ran from the last-level cache, or out of the range that decoding uses, are left out and counted: weights up to
/// twice the cache, linear layers of more than 512 rows, caches and states up to the cache's size. Throws InputError: unknown
/// or missing columns, a value that is not a number, another device, nothing to fit, fewer shapes than a fit needs.
std::vector<KernelTable> read_kernel_tables(const std::vector<std::string>& files_or_folder, const Device& device);

/// The same from files that are read already.
std::vector<KernelTable> kernel_tables_of(const std::vector<MeasuredFile>& files, const Device& device);

}  // namespace treeline
