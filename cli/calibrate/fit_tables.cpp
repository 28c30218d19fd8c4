#include "cli/calibrate/fit_tables.h"

#include <fmt/format.h>

#include "json/reader.h"

namespace treeline {
namespace {

std::string no_law(const KernelTable& table) {
    return fmt::format("no law fits the measurements of {} in {}: every form ends with a parameter on its bound",
                       name_of(table.kernel), name_of(table.format));
}

std::optional<KernelFit> fit_of(const KernelTable& table, const Device& device, const KernelFitOptions& options) {
    return calibrate(table, data_sheet_of(device, table.kernel, table.format), options);
}

}  // namespace

CalibratedTable fitted(KernelTable table, const Device& device, const KernelFitOptions& options) {
    std::optional<KernelFit> fit = fit_of(table, device, options);
    if (!fit) {
        throw InputError({no_law(table)});
    }
    return {std::move(table), std::move(*fit)};
}

std::vector<CalibratedTable> fitted_where_possible(std::vector<KernelTable> tables, const Device& device,
                                                   const KernelFitOptions& options, std::vector<std::string>& notes) {
    std::vector<CalibratedTable> result;
    for (KernelTable& table : tables) {
        std::optional<KernelFit> fit = fit_of(table, device, options);
        if (fit) {
            result.push_back({std::move(table), std::move(*fit)});
        } else {
            notes.push_back(no_law(table));
        }
    }
    return result;
}

}  // namespace treeline
