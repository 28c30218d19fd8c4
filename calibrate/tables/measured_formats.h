// Internal to reading measured rows: what the formats share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/tables/measured_rows.h"

namespace treeline::calibrate {

using RowValues = std::map<std::string, std::string, std::less<>>;

/// A file's rows as they are found, with every problem noted.
class MeasuredRows {
public:
    explicit MeasuredRows(std::string path) { file_.path = std::move(path); }

    void problem(const std::string& sentence);
    /// Names the device; a second name is a problem.
    void device(const std::string& name);
    /// A time that is missing, or not above zero, is a problem. A value "device" names the device.
    void add(const std::string& place, RowValues values, std::optional<double> seconds);
    [[nodiscard]] MeasuredFile& file() { return file_; }
    /// Throws InputError if there are problems, or no rows.
    MeasuredFile finish();

private:
    MeasuredFile file_;
    std::vector<std::string> problems_;
};

void read_measured_csv(const std::string& text, MeasuredRows& rows);
void read_measured_json(const std::string& text, MeasuredRows& rows);

}  // namespace treeline::calibrate
