// Raw measurements on disk: a CSV file for each table of kernels, written as they come, so that an interrupted run goes on.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "calibrate/measure/machine.h"
#include "calibrate/measure/protocol.h"
#include "cli/calibrate/measured_rows.h"

namespace treeline {

class MeasurementFiles {
public:
    /// Opens (or makes) the folder and reads what it holds already. Throws InputError where that is of another device or
    /// unreadable, OutputError where the folder cannot be made.
    MeasurementFiles(std::filesystem::path folder, const Machine& machine);

    /// Whether a case has been measured already.
    [[nodiscard]] bool holds(const KernelCase& kernel) const;
    /// Adds a measurement to its table's file, at once. `parts`: what its time is made of, in seconds, as columns of their own
    /// ("draft" becomes draft_us); the same for every row of a table. Throws OutputError.
    void append(const KernelCase& kernel, const Measurement& measurement, std::size_t rotation_bytes,
                const std::vector<std::pair<std::string, double>>& parts = {});
    /// Everything in the folder, as `treeline calibrate --from` would read it.
    [[nodiscard]] std::vector<MeasuredFile> read() const;

private:
    [[nodiscard]] std::filesystem::path file_of(const std::string& table) const;

    std::filesystem::path folder_;
    const Machine& machine_;
    std::set<std::string> known_;  ///< KernelCase::name() of each measurement
};

}  // namespace treeline
