#include "requests/adaptive/traffic_reader.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "requests/adaptive/shapes_reader.h"
#include "requests/keys/adaptive_keys.h"
#include "text/number_text.h"

namespace treeline::requests {
namespace {

/// A number, or a list of increasing ones.
std::vector<double> read_increasing(json::Reader& root, json::NumbersKey key) {
    if (root.has(key) && root.raw().at(std::string(key)).is_number()) {
        return {root.number(key, key.low, key.high)};
    }
    const std::vector<double> rates = read(root, key);
    if (std::adjacent_find(rates.begin(), rates.end(), std::greater_equal<>()) != rates.end()) {
        root.problem(key, "must increase from one to the next");
    }
    return rates;
}

void read_lengths(json::Reader& root, sweeps::Requests& requests) {
    constexpr json::CountKey key = requests_keys::output_tokens;
    if (root.has(key) && root.raw().at(std::string(key)).is_object()) {
        json::Reader at = root.object(key);
        requests.length = read(at, answer_keys::distribution);
        if (requests.length == sweeps::OutputLength::geometric) {
            requests.output_tokens = read(at, answer_keys::mean);
        } else {
            requests.output_tokens = static_cast<double>(at.count(answer_keys::mean, key.low, key.high));
        }
        at.finish();
    } else {
        requests.output_tokens = read<double>(root, key);
    }
    requests.prefill = Seconds(1e-3 * read(root, requests_keys::prefill_ms));
}

/// Arrival rates, or numbers of requests in flight.
void read_loads(json::Reader& root, sweeps::TrafficInput& input) {
    input.closed_loop = root.has(requests_keys::concurrency);
    if (input.closed_loop && root.has(requests_keys::arrivals_per_second)) {
        root.problem({}, "gives arrivals_per_second and concurrency, but exactly one is needed");
    }
    input.loads = read_increasing(root, input.closed_loop ? requests_keys::concurrency : requests_keys::arrivals_per_second);
    if (input.closed_loop && std::any_of(input.loads.begin(), input.loads.end(), [](double c) { return c != std::floor(c); })) {
        root.problem(requests_keys::concurrency, "must hold whole numbers");
    }
    if (input.closed_loop && root.has(requests_keys::clearing)) {
        root.problem(requests_keys::clearing, "collects arriving requests; it needs arrivals_per_second, not concurrency");
    }
}

std::optional<sweeps::ClearingWindow> read_clearing(json::Reader& root) {
    std::optional<json::Reader> at = root.optional_object(requests_keys::clearing);
    if (!at) {
        return std::nullopt;
    }
    sweeps::ClearingWindow window;
    window.wait = Seconds(1e-3 * read(*at, clearing_keys::wait_ms));
    if (read(*at, clearing_keys::opens) == clearing_keys::openings[1]) {
        window.opens = sweeps::WindowOpens::with_first_request;
    }
    at->finish();
    return window;
}

sweeps::SimulationSize read_size(json::Reader& root) {
    sweeps::SimulationSize size{1000, 300, 10, 1, 0};
    if (std::optional<json::Reader> at = root.optional_object(requests_keys::simulation)) {
        size.requests = read(*at, simulation_keys::requests);
        size.warm_up = read_or(*at, simulation_keys::warm_up, size.requests / 4);
        size.repetitions = read(*at, simulation_keys::repetitions);
        at->finish();
    }
    return size;
}

/// The distribution of one setting of the file.
std::vector<double> read_distribution(json::Reader& at, Descriptions& descriptions) {
    const bool shaped = at.has(setting_keys::shape);
    if (shaped && at.has(setting_keys::accepted_exactly)) {
        at.problem({}, "gives shape and accepted_exactly, but at most one is allowed");
    }
    if (at.has(setting_keys::accepted_exactly)) {
        return read_accepted_exactly(at, setting_keys::accepted_exactly);
    }
    if (!shaped) {
        return {1.0};
    }
    const sim::TreeShape shape = read_shape_under(at, setting_keys::shape, descriptions);
    const sim::DraftAcceptance acceptance = read_acceptance(at.object(setting_keys::acceptance), descriptions).acceptance;
    if (!problems(shape).empty()) {
        return {1.0};
    }
    const sim::DraftTree tree = sim::build_tree(shape, acceptance.siblings);
    const std::string why_not = sim::acceptance_problem(acceptance, shape, tree);
    if (!why_not.empty()) {
        at.problem(setting_keys::acceptance, why_not);
        return {1.0};
    }
    return sim::accepted_tokens(acceptance, shape, tree).exactly;
}

std::vector<int> read_batches(json::Reader& root, int capacity) {
    std::vector<int> batches;
    for (const std::int64_t batch : root.counts(requests_keys::batch, 1, requests_keys::most_capacity)) {
        batches.push_back(static_cast<int>(batch));
    }
    if (batches.empty()) {
        return batches;
    }
    if (batches.front() != 1 || std::adjacent_find(batches.begin(), batches.end(), std::greater_equal<>()) != batches.end()) {
        root.problem(requests_keys::batch, "must increase and start at 1");
    } else if (batches.back() < capacity) {
        root.problem(requests_keys::batch, fmt::format("ends at {}, below the capacity of {}", batches.back(), capacity));
    }
    return batches;
}

/// Of a list, with the elements that are refused.
std::size_t count_of(const json::Reader& at, std::string_view key) {
    const auto list = at.raw().find(std::string(key));
    return list == at.raw().end() ? 0 : list->size();
}

void read_table(json::Document& document, json::Reader& root, Descriptions& descriptions, sweeps::TrafficInput& input) {
    const std::vector<int> batches = read_batches(root, input.capacity);
    std::vector<std::vector<Seconds>> rounds;
    for (json::Reader& at : root.objects(requests_keys::settings)) {
        sweeps::SpeculationSetting setting;
        setting.name = read(at, setting_keys::name);
        static_cast<void>(read(at, setting_keys::source));
        setting.accepted_exactly = read_distribution(at, descriptions);
        rounds.emplace_back();
        for (const double milliseconds : read(at, setting_keys::round_ms)) {
            rounds.back().emplace_back(1e-3 * milliseconds);
        }
        const std::size_t stated = count_of(at, setting_keys::round_ms);
        if (!rounds.back().empty() && stated != batches.size()) {
            at.problem(setting_keys::round_ms, fmt::format("has {} times for {} batches", stated, batches.size()));
        }
        at.finish();
        input.settings.push_back(std::move(setting));
    }
    root.finish();
    document.throw_if_problems();
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        input.settings[i].round = sweeps::interpolated_rounds(batches, rounds[i], input.capacity);
    }
}

void read_priced(json::Document& document, json::Reader& root, Descriptions& descriptions, sweeps::TrafficInput& input) {
    const sweeps::ShapesPoint point = read_shapes_point(root.object(requests_keys::design_point), descriptions);
    root.finish();
    document.throw_if_problems();
    input.priced = text_of(point);
    std::vector<int> batches(static_cast<std::size_t>(input.capacity));
    std::iota(batches.begin(), batches.end(), 1);
    try {
        for (sweeps::PricedShape& shape : sweeps::price_shapes(point, point.drafter.acceptance, batches)) {
            const bool plain = shape.levels <= 0.0;
            input.settings.push_back(
                {plain ? "plain" : shape.label, std::move(shape.accepted_exactly), std::move(shape.round)});
        }
    } catch (const text::InputError& error) {
        document.add_problems(error.problems());
        document.throw_if_problems();
    }
}

/// A longer run would take minutes.
constexpr double most_simulated_tokens = 2e9;

void check_effort(json::Reader& root, const sweeps::TrafficInput& input) {
    const auto requests = static_cast<double>((input.size.requests + input.size.warm_up) * input.size.repetitions);
    const double tokens = requests * input.requests.output_tokens;
    if (tokens > most_simulated_tokens) {
        root.problem(requests_keys::simulation,
                     fmt::format("asks for {} tokens at each load and setting; at most {} can be simulated",
                                 text::short_text(tokens), text::short_text(most_simulated_tokens)));
    }
}

void check_settings(json::Reader& root, const sweeps::TrafficInput& input) {
    std::vector<std::string> names;
    for (const sweeps::SpeculationSetting& setting : input.settings) {
        if (std::find(names.begin(), names.end(), setting.name) != names.end()) {
            root.problem(requests_keys::settings, "holds \"" + setting.name + "\" twice");
        }
        names.push_back(setting.name);
    }
    if (std::none_of(input.settings.begin(), input.settings.end(), [](const auto& s) { return s.plain(); })) {
        root.problem(requests_keys::settings,
                     "none is plain decoding; one setting without acceptance is needed for comparison");
    }
}

}  // namespace

sweeps::TrafficInput read_traffic(json::Document& document, Descriptions& descriptions) {
    sweeps::TrafficInput input;
    json::Reader root = document.root();
    input.title = read(root, requests_keys::title);
    input.source = read(root, requests_keys::source);
    read_loads(root, input);
    input.capacity = read<int>(root, requests_keys::capacity);
    read_lengths(root, input.requests);
    input.clearing = read_clearing(root);
    input.size = read_size(root);
    if (root.has(requests_keys::settings) && root.has(requests_keys::design_point)) {
        root.problem({}, "gives settings and design_point, but exactly one is needed");
        document.throw_if_problems();
    }
    if (root.has(requests_keys::design_point)) {
        read_priced(document, root, descriptions, input);
    } else {
        read_table(document, root, descriptions, input);
    }
    check_effort(root, input);
    check_settings(root, input);
    document.add_problems(problems_of(input.settings, input.capacity));
    document.throw_if_problems();
    return input;
}

}  // namespace treeline::requests
