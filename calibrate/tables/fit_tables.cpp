#include "calibrate/tables/fit_tables.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "calibrate/tables/kernel_tables.h"
#include "numerics/team.h"

namespace treeline::calibrate {
namespace {

/// Moves tables with too few rows into the notes.
void leave_out_small(std::vector<KernelTable>& tables, std::vector<std::string>& notes) {
    std::erase_if(tables, [&](const KernelTable& table) {
        const std::vector<std::string> sentences = why_not_fitted(table);
        notes.insert(notes.end(), sentences.begin(), sentences.end());
        return !sentences.empty();
    });
}

std::string no_law(const KernelTable& table) {
    return fmt::format("no law fits the measurements of {}: every form ends with a parameter on its bound", title_of(table));
}

/// The law of each table, nothing if none fits. Tables do not depend on each other: all cores take them in turn.
std::vector<std::optional<KernelFit>> fits_of(const std::vector<KernelTable>& tables, const sim::Device& device,
                                              const KernelFitOptions& options) {
    std::vector<std::optional<KernelFit>> fits(tables.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < tables.size(); i = next++) {
            fits[i] = calibrate(tables[i], data_sheet_of(device, tables[i].kernel, tables[i].format), options);
        }
    };
    numerics::run_in_team(std::thread::hardware_concurrency(), work);
    return fits;
}

}  // namespace

std::vector<CalibratedTable> fitted_where_possible(std::vector<KernelTable> tables, const sim::Device& device,
                                                   const KernelFitOptions& options, std::vector<std::string>& notes) {
    leave_out_small(tables, notes);
    std::vector<std::optional<KernelFit>> fits = fits_of(tables, device, options);
    std::vector<CalibratedTable> result;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (fits[i]) {
            result.push_back({std::move(tables[i]), std::move(*fits[i])});
        } else {
            notes.push_back(no_law(tables[i]));
        }
    }
    return result;
}

std::vector<CalibratedVerification> fitted_verification(std::vector<RecurrentVerificationTable> tables,
                                                        const sim::Device& device, const KernelFitOptions& options,
                                                        std::vector<std::string>& notes) {
    std::vector<CalibratedVerification> result;
    for (RecurrentVerificationTable& table : tables) {
        if (std::optional<RecurrentVerificationFit> fit = fit_recurrent_verification(table, device, options)) {
            result.push_back({std::move(table), std::move(*fit)});
        } else {
            notes.push_back(fmt::format("{}: no law fits recurrent verification ({})", table.file, table.family));
        }
    }
    return result;
}

std::vector<CalibratedChunkScan> fitted_chunk_scans(std::vector<ChunkScanTable> tables, const sim::Device& device,
                                                    const KernelFitOptions& options, std::vector<std::string>& notes) {
    std::vector<CalibratedChunkScan> result;
    for (ChunkScanTable& table : tables) {
        if (std::optional<ChunkScanFit> fit = fit_chunk_scan(table, device, options)) {
            result.push_back({std::move(table), std::move(*fit)});
        } else {
            notes.push_back(fmt::format("{}: no law fits chunk scans ({})", table.file, table.family));
        }
    }
    return result;
}

}  // namespace treeline::calibrate
