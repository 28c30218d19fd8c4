#include "reports/figure.h"

#include "reports/html.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

Json axis_json(const FigureAxis& axis) {
    Json json = {{"key", axis.key}, {"title", axis.title}};
    if (axis.logarithmic) {
        json["log"] = true;
    }
    if (axis.from_zero) {
        json["zero"] = true;
    }
    return json;
}

Json column_json(const FigureColumn& column) {
    Json json = {{"key", column.key}, {"title", column.title}};
    if (!column.unit.empty()) {
        json["unit"] = column.unit;
    }
    if (column.digits >= 0) {
        json["digits"] = column.digits;
    }
    return json;
}

Json figure_json(const Figure& figure) {
    Json json = {{"id", figure.id},           {"title", figure.title},
                 {"reading", figure.reading}, {"mark", name_of(figure.mark)},
                 {"x", axis_json(figure.x)},  {"y", axis_json(figure.y)}};
    const auto add_text = [&json](const char* key, const std::string& text) {
        if (!text.empty()) {
            json[key] = text;
        }
    };
    add_text("alternative", figure.alternative);
    add_text("series", figure.series);
    add_text("low", figure.low);
    add_text("high", figure.high);
    add_text("points", figure.points);
    add_text("hollow", figure.hollow);
    add_text("end", figure.end);
    const auto add_flag = [&json](const char* key, bool set) {
        if (set) {
            json[key] = true;
        }
    };
    add_flag("stacked", figure.stacked);
    add_flag("step", figure.steps);
    add_flag("diagonal", figure.diagonal);
    if (figure.band > 0.0) {
        json["band"] = figure.band;
    }
    for (const FigureRule& rule : figure.rules) {
        json["rules"].push_back({{"at", rule.at}, {"label", rule.label}});
    }
    for (const FigureChoice& choice : figure.choices) {
        json["choices"].push_back({{"key", choice.key}, {"label", choice.label}});
    }
    json["columns"] = Json::array();
    for (const FigureColumn& column : figure.columns) {
        json["columns"].push_back(column_json(column));
    }
    json["rows"] = figure.rows;
    return json;
}

}  // namespace

Json section_json(const FigureSection& section) {
    Json json = {{"id", section.id}, {"heading", section.heading}, {"text", section.text}, {"figures", Json::array()}};
    for (const Figure& figure : section.figures) {
        json["figures"].push_back(figure_json(figure));
    }
    if (!section.list.empty()) {
        json["list"] = section.list;
    }
    return json;
}

std::string render_figures(const FigurePage& page) {
    Json data = {{"format", "treeline-report"},
                 {"version", 1},
                 {"title", page.title},
                 {"subtitle", page.subtitle},
                 {"generator", "treeline " TREELINE_VERSION},
                 {"summary", {{"heading", page.heading}, {"sentence", page.sentence}}},
                 {"sections", Json::array()}};
    for (const FigureSection& section : page.sections) {
        data["sections"].push_back(section_json(section));
    }
    return render_html(data);
}

}  // namespace treeline::reports
