#include "calibrate/tables/measured_rows.h"

#include <cmath>

#include <fmt/format.h>

#include "calibrate/tables/measured_formats.h"
#include "text/input_error.h"
#include "text/input_file.h"

namespace treeline::calibrate {
namespace {

constexpr std::size_t most_problems = 10;

}  // namespace

void MeasuredRows::problem(const std::string& sentence) {
    if (problems_.size() < most_problems) {
        problems_.push_back(fmt::format("{}: {}", file_.path, sentence));
    }
}

void MeasuredRows::device(const std::string& name) {
    if (!name.empty() && !file_.device.empty() && file_.device != name) {
        problem(fmt::format("holds measurements of several devices ({} and {}); a calibration covers one", file_.device, name));
    }
    file_.device = name;
}

void MeasuredRows::add(const std::string& place, RowValues values, std::optional<double> seconds) {
    if (!seconds || !(*seconds > 0.0) || !std::isfinite(*seconds)) {
        return problem(fmt::format("{}: the time must be a number above zero", place));
    }
    const auto named = values.find("device");
    if (named != values.end()) {
        device(named->second);
    }
    const auto mark = values.find("drifted");
    std::vector<MeasuredRow>& rows = mark != values.end() && mark->second == "1" ? file_.drifted : file_.rows;
    rows.push_back({fmt::format("{}: {}", file_.path, place), std::move(values), Seconds(*seconds)});
}

MeasuredFile MeasuredRows::finish() {
    if (file_.rows.empty()) {
        std::swap(file_.rows, file_.drifted);
    }
    if (problems_.empty() && file_.rows.empty()) {
        problem("holds no measurements");
    }
    if (!problems_.empty()) {
        throw text::InputError(std::move(problems_));
    }
    return std::move(file_);
}

MeasuredFile parse_measured_rows(const std::string& text, const std::string& path) {
    MeasuredRows rows(path);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) {
        rows.problem("is empty");
    } else if (text[first] == '{' || text[first] == '[') {
        read_measured_json(text, rows);
    } else {
        read_measured_csv(text, rows);
    }
    return rows.finish();
}

MeasuredFile read_measured_rows(const std::filesystem::path& path) {
    return parse_measured_rows(text::read_file(path), path.string());
}

}  // namespace treeline::calibrate
