#include "requests/sweep/sweep_flags.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json/wording.h"
#include "requests/sweep/sweep_columns_reader.h"
#include "text/input_error.h"
#include "text/parse_number.h"
#include "text/split.h"
#include "text/table.h"

namespace treeline::requests {
namespace {

constexpr double most_priced = 1e14;  ///< a day of a hundred processes

std::vector<const sweeps::SweepColumn*> columns_of(const std::string& flag, const std::string& text) {
    std::vector<const sweeps::SweepColumn*> columns;
    for (const std::string& name : text::split(text, ',')) {
        columns.push_back(sweep_column_of(flag, name));
    }
    return columns;
}

/// "tpot_ms<=20" or "speedup>=1.2".
sweeps::FigureLimit limit_of(const std::string& text) {
    const std::size_t at = text.find_first_of("<>");
    const bool whole = at != std::string::npos && text.compare(at + 1, 1, "=") == 0;
    const std::optional<double> bound = whole ? text::parse_number(std::string_view(text).substr(at + 2)) : std::nullopt;
    if (!bound) {
        throw text::InputError({fmt::format(
            "--where: cannot read \"{}\"; a limit is a column, <= or >=, and a number: tpot_ms<=20", json::shown_key(text))});
    }
    sweeps::FigureLimit limit;
    limit.column = sweep_column_of("--where", text.substr(0, at));
    (text[at] == '<' ? limit.most : limit.least) = *bound;
    return limit;
}

sweeps::GroupBest group_of(const char* flag, const std::string& text, const sweeps::SweepColumn* by) {
    sweeps::GroupBest group{text::split(text, ','), by, false};
    const std::vector<std::string> names = sweeps::group_axis_names();
    for (std::string& axis : group.axes) {
        axis = axis == "draft_tokens" ? "shape" : axis;
        if (std::find(names.begin(), names.end(), axis) == names.end()) {
            const std::string hint = text::did_you_mean(axis, names);
            throw text::InputError({fmt::format("{}: a sweep has no axis \"{}\"{}", flag, json::shown_key(axis),
                                                hint.empty() ? fmt::format("; it has {}", fmt::join(names, ", ")) : hint)});
        }
        if (std::count(group.axes.begin(), group.axes.end(), axis) > 1) {
            throw text::InputError({fmt::format("{}: names {} twice", flag, axis)});
        }
    }
    return group;
}

sweeps::SweepPart part_of(const std::string& text) {
    const std::vector<std::string> numbers = text::split(text, '/');
    const auto index = text::parse_number<std::uint64_t>(numbers.front()),
               count = text::parse_number<std::uint64_t>(numbers.back());
    if (numbers.size() != 2 || !index || !count || *index < 1 || *index > *count || *count > 1'000'000) {
        throw text::InputError(
            {fmt::format("--part: must be I/N with I from 1 to N, as in 3/8, not \"{}\"", json::shown_key(text))});
    }
    return {*index - 1, *count};
}

/// The names of the columns for which this direction is better, in lines.
std::string columns_text(sweeps::Better better) {
    std::string names;
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        if (column.better == better) {
            names += (names.empty() ? "" : ", ") + std::string(column.name);
        }
    }
    return "  " + text::wrapped(names, 110, "  ");
}

}  // namespace

const std::vector<KeyFlag>& sweep_flags() {
    static const std::vector<KeyFlag> flags = {
        {"--csv", "OUTPUT", "csv", "Write every point to this CSV file; - is standard output"},
        {"--json", "OUTPUT", "json", "Write every point to this JSON file; - is standard output"},
        {"--threads", "N", "threads", "Threads to use; 0 = one per core (default 0)"},
        {"--top", "N", "top", "Points to list, best first (default 10)"},
        {"--by", "COLUMN", "by", "Column to rank by (default speedup)"},
        {"--distinct", "AXIS,...", "distinct",
         "List only the best of the points that agree on these axes, so that the list does not hold its neighbours: "
         "device,drafter"},
        {"--pareto", "COLUMN,COLUMN", "pareto", "List the points that no other point beats in all of 2 to 4 columns"},
        {"--search", "GAP", "search",
         "Find the --top points by bounds instead of pricing all; what is not priced is better by at most this share (0: none "
         "is), which is proven"},
        {"--group-by", "AXIS,...", "group_by",
         "List the best point of every group by --by: batch, or device,batch; several lists as batch;device"},
        {"--where", "LIMIT,...", "where", "Only points within limits on figures: tpot_ms<=20,speedup>=1.2"},
        {"--quantiles", "COLUMN,...", "quantiles", "How the values of these columns are distributed"},
        {"--report", "OUTPUT", "report", "Write a page with charts: heat map, Pareto front, parallel coordinates, sensitivity"},
        {"--store", "FILE", "store",
         "Database that keeps the question and its answer: a repeated question is answered from it, an interrupted sweep goes "
         "on"},
        {"--part", "I/N", "part", "Run only this share of the sweep, into --store; `treeline results merge` joins the shares"},
    };
    return flags;
}

std::string sweep_footer() {
    return "The axes: target, precision, platform (or device, tensor_parallel, stack, mode), drafter, rollback, draft_tokens,\n"
           "shapes, verification, batch, context; numbers as [1, 2, 4], {\"from\": 1, \"to\": 8} or {\"powers_of_two\": "
           "{\"from\": 1, \"to\": 256}}.\n"
           "A condition keeps only points for which its expression of draft_tokens, depth, batch, context and tensor_parallel\n"
           "holds.\n\n"
           "Columns for --by, --pareto, --where and --quantiles where higher is better:\n" +
           columns_text(sweeps::Better::higher) + "\nand where lower is better:\n" + columns_text(sweeps::Better::lower) +
           "\nAxes for --group-by and --distinct:\n  " +
           text::wrapped(fmt::format("{}", fmt::join(sweeps::group_axis_names(), ", ")), 110, "  ") +
           "\n\nPoints that do not fit in memory are listed only with --ignore-memory. --format json and csv hold every point, "
           "or\n"
           "with --top, --by, --pareto or --group-by the lists; --csv and --json always hold every point.\n"
           "Memory grows with the lists, not with the design space.\n"
           "Under `mpirun -n N` the processes share the sweep, where treeline was built with MPI.\n"
           "With --search a space may be of any size.\n\n"
           "Examples:\n"
           "  treeline sweep examples/spire-study.json --csv spire.csv\n"
           "  treeline sweep examples/spire-study.json --top 20 --by tokens_per_s_device --where 'tpot_ms<=20'\n"
           "  treeline sweep examples/spire-study.json --top 20 --by tokens_per_s_device --distinct drafter,batch\n"
           "  treeline sweep examples/spire-study.json --search 0 --top 5 --by tokens_per_s_device\n"
           "  treeline sweep examples/spire-study.json --group-by batch --store results.sqlite\n"
           "  treeline sweep examples/spire-study.json --pareto tokens_per_s_user,tokens_per_s_device --format json\n"
           "  treeline sweep examples/fpga/explore-vck190.json";
}

SweepOutputs sweep_outputs(const FlagTexts& texts, const std::string& format, const std::string& output) {
    const bool best = any_given(texts, "top") || any_given(texts, "by") || any_given(texts, "distinct");
    const bool front = any_given(texts, "pareto"), groups = any_given(texts, "group_by"), stored = any_given(texts, "store");
    const bool lists = format == "table" || best || front || groups || stored || any_given(texts, "report");
    SweepOutputs outputs{given(texts, "csv"), given(texts, "json"), lists ? output : "",
                         groups ? any_given(texts, "top") : best || !front, front};
    if (!lists) {
        std::string& named = format == "csv" ? outputs.csv : outputs.json;
        if (!named.empty()) {
            throw text::InputError(
                {fmt::format("--format {0} and --{0} both say where the {0} goes; give one of them", format)});
        }
        named = output;
    }
    if (!outputs.csv.empty() && outputs.csv == outputs.json && outputs.csv != "-") {
        throw text::InputError({fmt::format("--csv and --json both name {}", outputs.csv)});
    }
    if (outputs.csv == "-" && outputs.json == "-") {
        throw text::InputError({"--csv and --json cannot both write to standard output"});
    }
    if (stored && !(outputs.csv + outputs.json).empty()) {
        throw text::InputError({"--store keeps lists, not every point; give --csv or --json without it"});
    }
    const bool several_groups = given(texts, "group_by").find(';') != std::string::npos;
    if (format == "csv" && (several_groups || (best && !groups) + front + groups > 1)) {
        throw text::InputError(
            {"--format csv holds one list; give --top, --pareto or one --group-by, or use --format json for all"});
    }
    if ((outputs.csv == "-" || outputs.json == "-") && outputs.summary == "-") {
        outputs.summary.clear();  // the lists must not mix with the data
    }
    return outputs;
}

sweeps::SweepOptions sweep_options(const FlagTexts& texts, bool ignore_memory) {
    const auto number = [&](const char* flag, const char* path, const char* otherwise, long long low, long long high) {
        return whole_number(flag, given(texts, path).empty() ? otherwise : given(texts, path), low, high);
    };
    sweeps::SweepOptions options;
    options.threads = static_cast<unsigned>(number("--threads", "threads", "0", 0, 1024));
    options.best_count = static_cast<std::size_t>(number("--top", "top", "10", 0, 100'000));
    options.ignore_memory = ignore_memory;
    if (!given(texts, "by").empty()) {
        options.best_by = sweep_column_of("--by", given(texts, "by"));
    }
    if (!given(texts, "pareto").empty()) {
        options.pareto_of = tradeoff_columns("--pareto", text::split(given(texts, "pareto"), ','));
    }
    if (!given(texts, "group_by").empty()) {
        for (const std::string& axes : text::split(given(texts, "group_by"), ';')) {
            options.groups.push_back(group_of("--group-by", axes, options.best_by));
        }
    }
    if (!given(texts, "distinct").empty()) {
        options.distinct = options.groups.size();
        options.groups.push_back(group_of("--distinct", given(texts, "distinct"), options.best_by));
        options.groups.back().for_page = true;
    }
    if (!given(texts, "where").empty()) {
        for (const std::string& limit : text::split(given(texts, "where"), ',')) {
            options.limits.push_back(limit_of(limit));
        }
    }
    if (!given(texts, "quantiles").empty()) {
        options.distributions = columns_of("--quantiles", given(texts, "quantiles"));
    }
    if (!given(texts, "search").empty()) {
        const std::optional<double> gap = text::parse_number(given(texts, "search"));
        if (!gap || *gap < 0.0 || *gap >= 1.0) {
            throw text::InputError({fmt::format("--search: must be a share from 0 to below 1, as in 0 or 0.001, not \"{}\"",
                                                json::shown_key(given(texts, "search")))});
        }
        options.search_gap = *gap;
    }
    if (!given(texts, "part").empty()) {
        options.part = part_of(given(texts, "part"));
        if (given(texts, "store").empty()) {
            throw text::InputError({"--part: needs --store, where the share is kept until `treeline results merge` joins all"});
        }
    }
    return options;
}

void check_size(const FlagTexts& texts, const sweeps::SweepOptions& options, const sweeps::DesignSpace& space) {
    if (!options.search_gap) {
        if (static_cast<double>(space.size()) > most_priced) {
            throw text::InputError(
                {fmt::format("the axes span {:.3g} points; at most {:.0e} are priced one by one, and "
                             "--search 0 finds the best without that",
                             static_cast<double>(space.size()), most_priced)});
        }
        return;
    }
    for (const char* flag : {"pareto", "group_by", "distinct", "quantiles", "csv", "json", "report", "store", "part"}) {
        if (any_given(texts, flag)) {
            std::string name(flag);
            std::replace(name.begin(), name.end(), '_', '-');
            throw text::InputError({fmt::format("--search finds the best points alone; give --{} without it", name)});
        }
    }
    if (options.best_count == 0) {
        throw text::InputError({"--search: --top is 0, so there is nothing to find"});
    }
    if (space.kind != sweeps::LoadKind::batch) {
        throw text::InputError(
            {fmt::format("--search: the bounds are those of batches; this space has an axis of {}", name_of(space.kind))});
    }
}

void check_groups(const sweeps::SweepOptions& options, const sweeps::SweepInput& input) {
    for (const sweeps::GroupBest& group : options.groups) {
        try {
            const sweeps::Groups groups(input.space, group.axes);
        } catch (const std::invalid_argument& error) {
            throw text::InputError({std::string("--group-by: ") + error.what()});
        }
    }
}

}  // namespace treeline::requests
