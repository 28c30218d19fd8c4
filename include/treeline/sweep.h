// A whole design space, priced at millions of points per second.
//
// Either keep every point as columns (SweepTable), or see the points go by in a callback (SweepOptions::visit), which takes no
// memory. docs/inputs.md explains the axes of a file; sweeps/sweep.h chunks and summaries. Functions throw InputError with
// every problem of the input, and std::bad_alloc where columns need more memory than there is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/sweep/sweep_output.h"
#include "sweeps/sweep_answer.h"
#include "treeline/catalogue.h"

namespace treeline {

using sim::RoundEstimate;
using sim::Speculation;
using sweeps::SweepChunk;
using sweeps::SweepColumn;
using sweeps::SweepInput;
using sweeps::SweepOptions;
using sweeps::SweepSummary;

/// Every priced point as columns, in the order of run_sweep(): by variant, context, batch, then shape. All figures lie in one
/// buffer, column after column; each has its unit in its name (sweeps/sweep_columns.h).
class SweepTable {
public:
    /// No column, no point.
    SweepTable() = default;
    /// Room for so many points; only touched memory is used.
    SweepTable(std::vector<const sweeps::SweepColumn*> columns, std::uint64_t capacity);

    [[nodiscard]] std::uint64_t points() const { return points_; }
    [[nodiscard]] const std::vector<const sweeps::SweepColumn*>& columns() const { return columns_; }
    /// NaN where the device's description lacks what the figure needs. Throws std::out_of_range for a column that is not kept.
    [[nodiscard]] std::span<const double> figures(std::string_view column) const;
    /// Indices into DesignSpace::variants and DesignSpace::speculations, and 1 for points that fit in memory. Empty where no
    /// columns are kept.
    [[nodiscard]] std::span<const std::int32_t> variants() const { return {variants_.get(), size()}; }
    [[nodiscard]] std::span<const std::int32_t> speculations() const { return {speculations_.get(), size()}; }
    [[nodiscard]] std::span<const bool> fits() const { return {fits_.get(), size()}; }

    /// Copies a chunk to its place; may run for several chunks at once.
    void add(const sweeps::SweepChunk& chunk, std::int32_t variant);
    /// Closes the gaps that dropped points leave. `chunks`: first point and count of each chunk added.
    struct Filled {
        std::uint64_t first = 0, count = 0;
    };
    void close_gaps(std::vector<Filled> chunks);

private:
    [[nodiscard]] std::size_t size() const { return columns_.empty() ? 0 : static_cast<std::size_t>(points_); }

    std::vector<const sweeps::SweepColumn*> columns_;
    std::uint64_t capacity_ = 0, points_ = 0;
    std::unique_ptr<double[]> figures_;  // NOLINT: not initialised, so that memory that is never written is never used
    std::unique_ptr<std::int32_t[]> variants_, speculations_;
    std::unique_ptr<bool[]> fits_;
};

struct SweepResult {
    sweeps::SweepInput input;
    sweeps::SweepOptions options;
    sweeps::SweepSummary summary;
    SweepTable table;  ///< empty where no columns were asked for
};

/// The input of `treeline sweep` from a file, whose folder its paths are relative to, or from JSON text.
sweeps::SweepInput sweep_input_file(const std::filesystem::path& file,
                                    const requests::Catalogue& catalogue = installed_catalogue());
sweeps::SweepInput sweep_input_json(std::string_view text, const requests::Catalogue& catalogue = installed_catalogue(),
                                    const std::filesystem::path& folder = {});

/// Prices the space. `columns`: the figures to keep of every point, 8 bytes each; empty: none.
SweepResult sweep(sweeps::SweepInput input, sweeps::SweepOptions options = {},
                  std::vector<const sweeps::SweepColumn*> columns = {});
/// All columns, in the order of a sweep's CSV.
std::vector<const sweeps::SweepColumn*> all_sweep_columns();

/// Counts, best points and Pareto set.
std::string as_table(const SweepResult& result);
/// Format "treeline-sweep-summary".
std::string as_json(const SweepResult& result);

}  // namespace treeline
