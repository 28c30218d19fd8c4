// Charts given as data: the pages of commands, and report sections that need no JavaScript of their own
// (reports/page/src/lib/figure.js draws them).
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/enum_names.h"

namespace treeline::reports {

struct FigureAxis {
    std::string key;    ///< member of the rows
    std::string title;  ///< with its unit: "Time (ms)"
    bool logarithmic = false;
    bool from_zero = false;
};

/// A column of the table behind a chart; also a line of its tooltips.
struct FigureColumn {
    std::string key, title;
    std::string unit = {};
    int digits = -1;  ///< decimals; −1: three significant digits
};

/// A labelled horizontal line.
struct FigureRule {
    double at = 0.0;
    std::string label;
};

/// A drop-down list that keeps the rows with one value of `key`.
struct FigureChoice {
    std::string key, label;
};

enum class FigureMark {
    line,   ///< x against y, a line for each series
    point,  ///< one mark per row
    bar,    ///< one bar per row over a discrete x
    range,  ///< a timeline: from x to `end`, on the line named by y
};
constexpr auto names_in(FigureMark) {
    using enum FigureMark;
    return enum_names<FigureMark>({{line, "line"}, {point, "point"}, {bar, "bar"}, {range, "range"}});
}

/// Rows are JSON objects; a row without a number under a key is left out wherever that key is needed. Series keep the order of
/// the rows.
struct Figure {
    std::string id;  ///< unique on the page, letters, digits and hyphens; also the name of saved files
    std::string title;
    std::string reading;      ///< one sentence that says how to read it
    std::string alternative;  ///< what it shows, in words, for those who cannot see it; empty: title and reading
    FigureMark mark = FigureMark::line;
    FigureAxis x, y;
    std::string series;     ///< key that names the series; empty: one series
    std::string low, high;  ///< keys of an interval around y (lines)
    std::string points;     ///< key of measured values drawn as rings along with the lines
    std::string hollow;     ///< key that is true for marks without filling (points)
    std::string end;        ///< key of a range's end
    bool stacked = false;   ///< bars of one place are stacked instead of side by side
    bool steps = false;     ///< lines as steps
    bool diagonal = false;  ///< a line where x equals y
    double band = 0.0;      ///< with `diagonal`: further lines at this share above and below it
    std::vector<FigureRule> rules;
    std::vector<FigureChoice> choices;
    std::vector<FigureColumn> columns;
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
};

struct FigureSection {
    std::string id, heading;
    std::string text;  ///< what the charts say, in words
    std::vector<Figure> figures;
    std::vector<std::string> list = {};  ///< numbered, below the text
};

/// An entry of the report data's `sections`.
nlohmann::ordered_json section_json(const FigureSection& section);

/// A self-contained HTML page: a title, the answer as a sentence under `heading`, and sections.
struct FigurePage {
    std::string title, subtitle;
    std::string heading, sentence;
    std::vector<FigureSection> sections;
};
std::string render_figures(const FigurePage& page);

}  // namespace treeline::reports
