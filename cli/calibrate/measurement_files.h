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

    /// Whether a case has been measured already, under the same conditions as most.
    [[nodiscard]] bool holds(const KernelCase& kernel) const;
    /// Puts a measurement into its table's file, at once, in place of an earlier one of the case. `parts`: what its time is
    /// made of, in seconds, as columns of their own ("draft" becomes draft_us); the same for every row of a table. Throws
    /// OutputError.
    void write(const KernelCase& kernel, const Measurement& measurement, std::size_t rotation_bytes,
               const std::vector<std::pair<std::string, double>>& parts = {});
    /// Adds what the blocks ran under, beside the tables. Throws OutputError.
    void write_conditions(const ProtocolRun& run) const;
    /// Those of the blocks that were kept as good, as far as they are compared: memory, launches, clock.
    [[nodiscard]] std::vector<Conditions> conditions() const;
    /// Every measurement in the folder, as `treeline calibrate --from` would read it.
    [[nodiscard]] std::vector<MeasuredFile> read() const;

private:
    [[nodiscard]] std::filesystem::path file_of(const std::string& table) const;
    [[nodiscard]] std::filesystem::path conditions_file() const;

    std::filesystem::path folder_;
    const Machine& machine_;
    std::set<std::string> lines_;  ///< KernelCase::name() of each measurement
    std::set<std::string> known_;  ///< of those that need not be measured again
};

}  // namespace treeline
