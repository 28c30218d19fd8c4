// Raw measurements on disk: a CSV file for each table of kernels, rewritten as more is known, so that an interrupted run can
// resume.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/measure/machine.h"
#include "calibrate/measure/protocol.h"
#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

/// What a time is made of, in seconds, by name: "draft" becomes the column draft_us. The same names in every row of a table.
using TimeParts = std::vector<std::pair<std::string, double>>;

class MeasurementFiles {
public:
    /// Opens (or creates) the folder and reads what it holds already. Throws InputError if that is of another device or
    /// unreadable, OutputError if the folder cannot be created. `machine` must outlive this object.
    MeasurementFiles(std::filesystem::path folder, const Machine& machine);
    MeasurementFiles(std::filesystem::path folder, Machine&& machine) = delete;

    /// Whether a case has been measured already, with at least this many samples of the machine's typical state.
    [[nodiscard]] bool holds(const KernelCase& kernel, int least_samples = 1) const;
    /// Puts a measurement into its table, in place of an earlier one of the case. save() brings it to the disk.
    void put(const KernelCase& kernel, const Measurement& measurement, std::size_t rotation_bytes, const TimeParts& parts = {});
    /// Brings what changed to the disk; a row that is new is added to its file. Throws OutputError.
    void save();
    /// Takes over measurements of this device, as read() returns them, those that are known better than what is held.
    void merge(const std::vector<MeasuredFile>& files);
    /// What was seen besides the cases that are held.
    [[nodiscard]] std::vector<Conditions> conditions() const;
    /// Every measurement that was saved, as `treeline calibrate --from` would read it.
    [[nodiscard]] std::vector<MeasuredFile> read() const;
    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

private:
    struct Table {
        std::vector<std::string> columns;           ///< in the order of the file
        std::map<std::string, std::size_t> places;  ///< in `rows`, by KernelCase::name()
        std::vector<std::map<std::string, std::string>> rows;
        std::size_t saved = 0;  ///< rows that the file holds
        bool changed = false;   ///< other than by rows behind those
    };
    using Values = std::map<std::string, std::string>;
    void put_row(Table& table, const std::string& key, Values row, const std::vector<std::string>& columns);
    [[nodiscard]] std::filesystem::path file_of(const std::string& table) const;
    [[nodiscard]] std::string head_of(const Table& table) const;
    void load(const MeasuredFile& file, bool is_saved);

    std::filesystem::path folder_;
    const Machine& machine_;
    std::map<std::string, Table> tables_;  ///< by name
};

/// The tables of a folder of measurements, without the records beside them.
std::vector<MeasuredFile> read_measurements(const std::filesystem::path& folder);

}  // namespace treeline::calibrate
