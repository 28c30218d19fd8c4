// From rows of measured kernels to tables that laws are fitted to.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/kernel_samples.h"
#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

/// Reads files, or all tables of the device in folders (those whose names begin with the device's, up to a hyphen, and '_':
/// h100_gemm.csv for h100-sxm). What a row is follows from the file's "benchmark" values or from its columns:
///   gemm:             dtype, m, n, k
///   attention_decode: batch, query_tokens, context, q_heads, kv_heads, head_dim, window, kv_dtype
///   recurrent_verify: fused_conv, batch, tokens, heads, head_k_dim, head_v_dim, state_dtype
///   conv1d:           phase, batch, tokens, channels, d_conv
///   attention_prefill, latent_attention, experts, collectives: hardware/README.md
/// Rows that ran from the last-level cache, or outside the range that decoding uses, are left out and counted: weights up to
/// twice the cache, linear layers of more than 512 rows, caches and states up to the cache's size. Throws InputError: unknown
/// or missing columns, a value that is not a number, another device, nothing to fit, fewer shapes than a fit needs.
std::vector<KernelTable> read_kernel_tables(const std::vector<std::string>& files_or_folders, const sim::Device& device);

/// The files alone, every kind of table among them. Of several folders one may hold no table of the device; rows that two files
/// of one name share (editions of a table) come once.
std::vector<MeasuredFile> read_measured_files(const std::vector<std::string>& files_or_folders, const sim::Device& device);

/// The tables from files that were already read. Tables may hold fewer shapes than a fit needs: the user's machine may have
/// measured too little of one kernel.
std::vector<KernelTable> kernel_tables_of(const std::vector<MeasuredFile>& files, const sim::Device& device);

/// Why no law can be fitted to a table (problems() of calibrate/kernel_fit.h), each sentence with the file that holds its rows.
std::vector<std::string> why_not_fitted(const KernelTable& table);

/// Throws InputError with these sentences of all tables.
void require_fittable(const std::vector<KernelTable>& tables);

}  // namespace treeline::calibrate
