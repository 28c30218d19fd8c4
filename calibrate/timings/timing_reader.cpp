#include "calibrate/timings/timing_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "calibrate/timings/timing_formats.h"
#include "json/reader.h"
#include "json/wording.h"
#include "text/input_file.h"
#include "text/problems.h"

namespace treeline::calibrate {
namespace {

bool is_json(const std::filesystem::path& path, const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return path.extension() == ".json" || (first != std::string::npos && (text[first] == '[' || text[first] == '{'));
}

}  // namespace

void add_timing(TimingFile& file, const std::string& series, const Timing& timing) {
    auto found = std::find_if(file.series.begin(), file.series.end(), [&](const TimingSeries& s) { return s.name == series; });
    if (found == file.series.end()) {
        found = file.series.insert(found, TimingSeries{series, {}});
    }
    found->timings.push_back(timing);
}

TimingFile read_timings(const std::filesystem::path& path, std::vector<std::string>* bad_rows) {
    TimingFile file;
    file.path = path.string();
    const std::string text = text::read_file(path);
    std::vector<std::string> found;
    if (is_json(path, text)) {
        read_timings_json(text, file, found);
    } else {
        read_timings_csv(text, file, found);
    }
    if (!found.empty() && (bad_rows == nullptr || file.series.empty())) {
        throw text::InputError(std::move(found));
    }
    for (const std::string& row : std::exchange(found, {})) {
        text::add_problem(*bad_rows, row + text::left_out_row);
    }
    if (file.series.empty()) {
        found.push_back(fmt::format("{}: holds no measurements{}", file.path,
                                    file.notes.empty() ? "" : fmt::format(" ({})", fmt::join(file.notes, "; "))));
    }
    for (const TimingSeries& series : file.series) {
        for (const std::string& problem : problems(series.timings)) {
            found.push_back(fmt::format("{}: {}{}", file.path,
                                        series.name.empty() ? "" : fmt::format("series \"{}\": ", series.name), problem));
        }
    }
    if (!found.empty()) {
        throw text::InputError(std::move(found));
    }
    return file;
}

const TimingSeries& series_named(const TimingFile& file, const std::string& name) {
    std::vector<std::string> names;
    for (const TimingSeries& series : file.series) {
        if (series.name == name) {
            return series;
        }
        names.push_back(series.name);
    }
    if (name.empty() && file.series.size() == 1) {
        return file.series.front();
    }
    throw text::InputError(
        {name.empty() ? fmt::format("{}: holds several series; name one of {}", file.path, text::listed(names, "and"))
                      : fmt::format("{}: has no series \"{}\"{}", file.path, name,
                                    names.size() == 1 && names[0].empty() ? "; its rows name none"
                                                                          : "; there are " + text::listed(names, "and"))});
}

}  // namespace treeline::calibrate
