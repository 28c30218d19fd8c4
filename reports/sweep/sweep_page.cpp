#include "reports/sweep/sweep_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "reports/figure.h"
#include "reports/html.h"
#include "reports/sweep/sweep_output.h"
#include "text/number_text.h"

namespace treeline::reports {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_cells = 20'000;       ///< of one map
constexpr std::size_t most_all_cells = 100'000;  ///< of all maps
constexpr std::size_t most_points = 100'000;     ///< of the parallel coordinates
constexpr std::size_t most_on_front = 2'000;

/// Each value of an axis once, in the order of the space.
std::vector<std::string> values_of(const sweeps::DesignSpace& space, const std::string& axis) {
    const sweeps::Groups groups(space, {axis});
    std::vector<std::string> values;
    std::set<std::string> known;
    const auto add = [&](const sweeps::Place& place) {
        std::string value = groups.values(place).front();
        if (known.insert(value).second) {
            values.push_back(std::move(value));
        }
    };
    const std::size_t longest = axis == "batch"     ? space.batch.size()
                                : axis == "context" ? space.context.size()
                                : axis == "shape"   ? space.speculation.size()
                                                    : space.variants.size();
    for (std::size_t i = 0; i < longest; ++i) {
        add({axis == "batch" || axis == "context" || axis == "shape" ? 0 : i, axis == "context" ? i : 0,
             axis == "batch" ? i : 0, axis == "shape" ? i : 0});
    }
    return values;
}

struct Axis {
    std::string name;
    std::vector<std::string> values;

    [[nodiscard]] std::size_t place(const std::string& value) const {
        return static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin());
    }
};

std::vector<Axis> axes_of(const sweeps::DesignSpace& space) {
    std::vector<Axis> axes;
    for (const std::string& name : sweeps::group_axis_names()) {
        if (std::vector<std::string> values = values_of(space, name); values.size() > 1) {
            axes.push_back({name, std::move(values)});
        }
    }
    return axes;
}

std::string configuration_of(const sweeps::SweepAnswer& answer, const sweeps::SweepPoint& point) {
    const sweeps::VariantLabels& labels = answer.input.space.variants[point.variant].labels;
    return fmt::format("{}, {}, {}, {}", labels.text(), labels.stack, labels.target,
                       text_of(sweeps::speculation_of(answer.input, point)));
}

/// What maps and points share: axes, and texts of configurations, once each.
class PageData {
public:
    explicit PageData(const sweeps::SweepAnswer& answer) : answer_(answer), axes_(axes_of(answer.input.space)) {}

    [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
    [[nodiscard]] Json map_of(std::size_t list) {
        const sweeps::GroupBest& group = answer_.options.groups[list];
        const auto axis = [&](const std::string& name) {
            return static_cast<std::size_t>(
                std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == name; }) - axes_.begin());
        };
        const std::size_t x = axis(group.axes[0]), y = axis(group.axes[1]);
        Json cells = Json::array();
        for (const sweeps::GroupList::Entry& entry : answer_.summary.groups[list].entries) {
            cells.push_back({axes_[x].place(entry.values[0]), axes_[y].place(entry.values[1]),
                             group.by->value(entry.point.figures(answer_.input.space)), configuration(entry.point)});
        }
        return {{"x", x}, {"y", y}, {"cells", std::move(cells)}};
    }
    [[nodiscard]] Json configurations() const { return texts_; }

private:
    std::size_t configuration(const sweeps::SweepPoint& point) {
        const std::string text = configuration_of(answer_, point);
        const auto [at, is_new] = places_.emplace(text, texts_.size());
        if (is_new) {
            texts_.push_back(text);
        }
        return at->second;
    }

    const sweeps::SweepAnswer& answer_;
    std::vector<Axis> axes_;
    std::map<std::string, std::size_t> places_;
    std::vector<std::string> texts_;
};

/// Every kept point once, in the order of the space.
std::vector<const sweeps::SweepPoint*> kept_points(const sweeps::SweepSummary& summary) {
    std::map<std::uint64_t, const sweeps::SweepPoint*> kept;
    for (const std::vector<sweeps::SweepPoint>* list : {&summary.best, &summary.pareto}) {
        for (const sweeps::SweepPoint& point : *list) {
            kept.emplace(point.order, &point);
        }
    }
    for (const sweeps::GroupList& list : summary.groups) {
        for (const sweeps::GroupList::Entry& entry : list.entries) {
            kept.emplace(entry.point.order, &entry.point);
        }
    }
    std::vector<const sweeps::SweepPoint*> points;
    for (const auto& [order, point] : kept) {
        if (points.size() < most_points) {
            points.push_back(point);
        }
    }
    return points;
}

Json points_json(const sweeps::SweepAnswer& answer) {
    const sweeps::DesignSpace& space = answer.input.space;
    std::vector<const sweeps::SweepColumn*> columns;
    for (const char* name :
         {"draft_tokens", "batch", "context", "speedup", "tpot_ms", "tokens_per_s_user", "tokens_per_s_device", "memory_gb"}) {
        columns.push_back(sweeps::find_sweep_column(name));
    }
    if (std::find(columns.begin(), columns.end(), answer.options.best_by) == columns.end()) {
        columns.push_back(answer.options.best_by);
    }
    Json titles = {"device", "drafter"}, categories = Json::object(), rows = Json::array();
    std::map<std::string, std::vector<std::string>> known;
    const auto category = [&](const std::string& axis, const std::string& value) {
        std::vector<std::string>& values = known[axis];
        const auto at = std::find(values.begin(), values.end(), value);
        const auto place = static_cast<std::size_t>(at - values.begin());
        if (at == values.end()) {
            values.push_back(value);
        }
        return place;
    };
    for (const sweeps::SweepColumn* column : columns) {
        titles.push_back(column->name);
    }
    for (const sweeps::SweepPoint* point : kept_points(answer.summary)) {
        const sweeps::VariantLabels& labels = space.variants[point->variant].labels;
        Json row = {category("device", labels.platform()), category("drafter", labels.drafter)};
        for (const sweeps::SweepColumn* column : columns) {
            row.push_back(static_cast<float>(column->value(point->figures(space))));
        }
        rows.push_back(std::move(row));
    }
    for (const auto& [axis, values] : known) {
        categories[axis] = values;
    }
    return {{"columns", std::move(titles)}, {"rows", std::move(rows)}, {"categories", std::move(categories)}};
}

/// How far the best falls when an axis is held at each of its values.
FigureSection sensitivity(const sweeps::SweepAnswer& answer, const std::vector<Axis>& axes) {
    const sweeps::DesignSpace& space = answer.input.space;
    const sweeps::SweepColumn& by = *answer.options.best_by;
    Figure figure;
    figure.id = "sensitivity";
    figure.title = fmt::format("Best {} with one axis held", by.name);
    figure.reading =
        "A line that stays level means that the axis hardly matters: whatever its value, the others make up for it.";
    figure.mark = FigureMark::line;
    figure.x = {"place", "Value of the axis, first to last"};
    figure.y = {"best", std::string(by.name)};
    figure.series = "axis";
    figure.columns = {{"axis", "Axis"}, {"value", "Value"}, {"best", std::string(by.name)}};
    FigureSection section{"sensitivity", "What each axis changes", "", {}};
    for (std::size_t i = 0; i < answer.summary.groups.size(); ++i) {
        const sweeps::GroupBest& group = answer.options.groups[i];
        if (!group.for_page || group.axes.size() != 1) {
            continue;
        }
        const auto axis = std::find_if(axes.begin(), axes.end(), [&](const Axis& a) { return a.name == group.axes[0]; });
        double least = INFINITY, most = -INFINITY;
        for (const sweeps::GroupList::Entry& entry : answer.summary.groups[i].entries) {
            const double best = by.value(entry.point.figures(space));
            const double last = static_cast<double>(axis->values.size() - 1);
            figure.rows.push_back({{"axis", group.axes[0]},
                                   {"value", entry.values[0]},
                                   {"place", static_cast<double>(axis->place(entry.values[0])) / last},
                                   {"best", best}});
            least = std::min(least, best);
            most = std::max(most, best);
        }
        if (most >= least) {
            section.text += fmt::format("{}{}: {} to {}", section.text.empty() ? "" : "; ", group.axes[0],
                                        text::short_text(least), text::short_text(most));
        }
    }
    section.text = fmt::format("Best {} by the value at which an axis is held, all others free: {}.", by.name, section.text);
    section.figures = {figure};
    return section;
}

FigureSection front(const sweeps::SweepAnswer& answer) {
    const std::vector<const sweeps::SweepColumn*>& columns = answer.options.pareto_of;
    Figure figure;
    figure.id = "front";
    figure.title = fmt::format("{} against {}", columns[1]->name, columns[0]->name);
    figure.reading = "No other point of the sweep is better in all of the columns that are traded off.";
    figure.mark = FigureMark::point;
    figure.x = {"x", std::string(columns[0]->name)};
    figure.y = {"y", std::string(columns[1]->name)};
    figure.series = "platform";
    figure.columns = {{"configuration", "Configuration"},
                      {"batch", "Batch"},
                      {"context", "Context"},
                      {"x", figure.x.title},
                      {"y", figure.y.title}};
    for (std::size_t c = 2; c < columns.size(); ++c) {
        figure.columns.push_back({std::string(columns[c]->name), std::string(columns[c]->name)});
    }
    const std::vector<sweeps::SweepPoint>& points = answer.summary.pareto;
    const std::size_t step = points.size() / most_on_front + 1;
    for (std::size_t i = 0; i < points.size(); i += step) {
        const sweeps::SweepFigures at = points[i].figures(answer.input.space);
        Json row = {{"configuration", configuration_of(answer, points[i])},
                    {"platform", at.variant.labels.platform()},
                    {"batch", at.batch},
                    {"context", at.context},
                    {"x", columns[0]->value(at)},
                    {"y", columns[1]->value(at)}};
        for (std::size_t c = 2; c < columns.size(); ++c) {
            row[std::string(columns[c]->name)] = columns[c]->value(at);
        }
        figure.rows.push_back(std::move(row));
    }
    return {"front", "The Pareto set", "", {figure}};
}

std::string sentence_of(const sweeps::SweepAnswer& answer) {
    const sweeps::SweepSummary& summary = answer.summary;
    const std::string count = text::grouped_text(static_cast<long long>(summary.points));
    if (summary.best.empty()) {
        return fmt::format("{} points were priced; none fits.", count);
    }
    const sweeps::SweepPoint& best = summary.best.front();
    return fmt::format("Of {} points the best by {} is {} at batch {} and context {}: {}.", count, answer.options.best_by->name,
                       configuration_of(answer, best), text::short_text(best.point.batch), text::short_text(best.point.context),
                       text::short_text(answer.options.best_by->value(best.figures(answer.input.space))));
}

}  // namespace

void add_page_groups(const sweeps::DesignSpace& space, sweeps::SweepOptions& options) {
    const std::vector<Axis> axes = axes_of(space);
    std::size_t all = 0;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        options.groups.push_back({{axes[i].name}, options.best_by, true});
    }
    // Batch, context and shape first: they are what is looked at most.
    for (std::size_t i = axes.size(); i-- > 0;) {
        for (std::size_t j = i; j-- > 0;) {
            const std::size_t cells = axes[i].values.size() * axes[j].values.size();
            if (cells <= most_cells && all + cells <= most_all_cells) {
                options.groups.push_back({{axes[j].name, axes[i].name}, options.best_by, true});
                all += cells;
            }
        }
    }
}

std::string sweep_page(const sweeps::SweepAnswer& answer) {
    PageData data(answer);
    Json axes = Json::array(), maps = Json::array();
    for (const Axis& axis : data.axes()) {
        axes.push_back({{"name", axis.name}, {"values", axis.values}});
    }
    for (std::size_t i = 0; i < answer.summary.groups.size(); ++i) {
        if (answer.options.groups[i].for_page && answer.options.groups[i].axes.size() == 2 &&
            !answer.summary.groups[i].entries.empty()) {
            maps.push_back(data.map_of(i));
        }
    }
    const sweeps::SweepColumn& by = *answer.options.best_by;
    const std::string title = answer.input.title.empty() ? "A design space" : answer.input.title;
    Json page = {{"title", title},
                 {"generator", "treeline " TREELINE_VERSION},
                 {"summary", {{"heading", "The best point"}, {"sentence", sentence_of(answer)}}}};
    page["sections"] = {section_json(front(answer)), section_json(sensitivity(answer, data.axes()))};
    page["space"] = {{"by", {{"column", by.name}, {"better", by.better == sweeps::Better::higher ? "higher" : "lower"}}},
                     {"axes", std::move(axes)},
                     {"maps", std::move(maps)},
                     {"configurations", data.configurations()},
                     {"points", points_json(answer)}};
    return render_html(page);
}

}  // namespace treeline::reports
