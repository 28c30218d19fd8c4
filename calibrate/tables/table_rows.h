// A row of measured kernels as a sample that a law can be fitted to: one function for each kind of table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibrate/kernel_samples.h"
#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

/// A sample and the table it belongs to.
struct ConvertedRow {
    sim::KernelClass kernel = sim::KernelClass::gemm;
    sim::NumberFormat format = sim::NumberFormat::bf16;
    KernelSample sample;
    Bytes stationary;         ///< what a replay finds in the cache if it fits: weights, keys and values, states
    bool of_decoding = true;  ///< false: not a kernel that decoding runs, or one that the simulator prices otherwise
    std::string family = {};  ///< of kernels
    /// A small time with data in the cache counts where reading them from memory would hardly lengthen it.
    bool short_ones_count = false;
    bool ours = false;  ///< a kernel of ours, measured by `treeline calibrate`
};

/// Values of a row, with every problem noted.
class TableRow {
public:
    TableRow(const MeasuredRow& row, std::vector<std::string>& problems) : row_(row), problems_(problems) {}

    [[nodiscard]] bool has(std::string_view name) const { return row_.values.find(name) != row_.values.end(); }
    std::string text(std::string_view name);
    double number(std::string_view name, double least);
    /// `otherwise` if there is no such column.
    double number_or(std::string_view name, double least, double otherwise) {
        return has(name) ? number(name, least) : otherwise;
    }
    sim::NumberFormat format(std::string_view name);
    /// The index of the value in `words`; 0 and a problem if it is none of them.
    std::size_t choice(std::string_view name, const std::vector<std::string>& words);

    [[nodiscard]] bool good() const { return good_; }
    [[nodiscard]] Seconds time() const { return row_.time; }

private:
    void problem(const std::string& sentence);

    const MeasuredRow& row_;
    std::vector<std::string>& problems_;
    bool good_ = true;
};

struct TableKind {
    std::string_view name;
    std::string_view telling_column;     ///< that only this kind has (of those further down this list)
    ConvertedRow (*convert)(TableRow&);  ///< null: read by others (probes), no kernel of a pass
    std::string_view domain;
    std::string_view second_column = {};  ///< that it has, too
    /// Kernels that engines run on GPUs in place of ours: laws of our own measurements are none of theirs. Empty: engines run
    /// the same library (cuBLASLt), or kernels that memory alone bounds.
    std::string_view stands_for = {};
};

/// Every kind of table. The first whose telling column a row has is the row's.
const std::vector<TableKind>& table_kinds();

/// The kind of a row: by its "benchmark" value if it has one, else by its columns. Null for neither.
const TableKind* kind_of(const MeasuredRow& row);

}  // namespace treeline::calibrate
