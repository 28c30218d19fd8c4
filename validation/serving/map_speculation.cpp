// Runs with and without speculation.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "sim/traits.h"
#include "validation/serving/families.h"
#include "validation/serving/points.h"
#include "validation/serving/predict.h"

namespace treeline::validation {
namespace {

/// Whether a row's metric is a speed: a rate of tokens, a time, or their ratio. "" where the row does not say.
bool is_speed(const std::string& metric) {
    constexpr std::array<std::string_view, 7> words = {"tok_s", "tokens", "throughput", "speedup", "tpot", "itl", "latency"};
    return metric.empty() || std::any_of(words.begin(), words.end(),
                                         [&](std::string_view word) { return metric.find(word) != std::string::npos; });
}

Unmapped rule_against(const SpeculationRow& row) {
    if (!row.is_pair) {
        return {"not a pair of runs with and without speculation", row.metric};
    }
    if (!is_speed(row.metric)) {
        return {"metric is not known", row.metric};
    }
    if (!row.suspect.empty()) {
        return {"suspect", row.suspect};
    }
    if (!row.duplicate_of.empty()) {
        return {"duplicate", row.duplicate_of};
    }
    if (row.confidence.starts_with("low")) {
        return {"low confidence", row.confidence};
    }
    if (!row.speed_up) {
        return {"no speed-up stated", row.metric};
    }
    if (!row.batch) {
        return {"no batch stated", row.batch_kind};
    }
    if (row.batch_kind.find("rate") != std::string::npos) {
        return {"load is a rate, not a batch", row.batch_kind};
    }
    return {};
}

/// The draft of a row: SGLang's tree, or a chain.
Mapped<sim::Speculation> speculation_of(const SpeculationRow& row) {
    const double top_k = row.tree_top_k.value_or(1.0);
    if (top_k > 1.0 && row.tree_steps && row.tree_size) {
        const sim::SglangShape tree{static_cast<int>(*row.tree_steps), static_cast<int>(top_k),
                                    static_cast<int>(*row.tree_size)};
        if (const std::vector<std::string> found = problems(tree); !found.empty()) {
            return Unmapped{"draft tree cannot be built", found.front()};
        }
        return sim::Speculation{tree, sim::Verification::packed,
                                fmt::format("sglang {},{},{}", tree.steps, tree.top_k, tree.draft_tokens)};
    }
    const double k = row.draft_tokens.value_or(row.tree_size ? *row.tree_size - 1.0 : 0.0);
    if (!(k >= 1.0) || k > 256.0 || k != std::floor(k)) {
        return Unmapped{"draft length not stated", row.drafter};
    }
    return sim::Speculation{sim::ChainShape{static_cast<int>(k)}, sim::Verification::unrolled, fmt::format("chain {}", k)};
}

/// DeepSeek-V4's DSpark heads come with it.
sim::ParallelDrafter block_drafter(const std::string& kind, int drafts, const sim::Model& target) {
    sim::ParallelDrafter drafter;
    if (kind == "dspark") {
        drafter = sim::compresses_cache(target) ? sim::ParallelDrafter::dspark_of_deepseek_v4()
                                                : sim::ParallelDrafter::published_dspark();
    }
    drafter.block = std::max(drafter.block, static_cast<sim::Count>(drafts) + 1);
    return drafter;
}

/// `drafts`: of the row, 4 where it states none; `depth`: levels of its draft.
Mapped<sim::Drafter> drafter_of(const SpeculationRow& row, const std::string& kind, const sim::Model& target, int drafts,
                                int depth, const ServingParts& parts) {
    if (kind == "eagle3") {
        return sim::Drafter{sim::OneLayerDrafter::published_eagle3()};
    }
    if (kind == "p-eagle") {
        return sim::Drafter{sim::OneLayerDrafter::published_p_eagle()};
    }
    if (kind == "dflash" || kind == "dspark") {
        return sim::Drafter{block_drafter(kind, drafts, target)};
    }
    if (const auto apart = parts.modules_apart.find(target.name); kind == "mtp" && apart != parts.modules_apart.end()) {
        return sim::Drafter{apart->second};
    }
    if (kind == "eagle" || kind == "mtp") {
        sim::OneLayerDrafter drafter;
        drafter.kind = kind == "eagle" ? sim::OneLayerKind::eagle : sim::OneLayerKind::mtp;
        return sim::Drafter{drafter};
    }
    if (kind == "ngram" || kind == "recycling" || kind == "suffix") {
        sim::NgramDrafter lookup;
        lookup.kind = kind == "ngram"    ? sim::LookupKind::ngram
                      : kind == "suffix" ? sim::LookupKind::suffix
                                         : sim::LookupKind::recycling;
        return sim::Drafter{lookup};
    }
    if (kind == "medusa" || kind == "hydra" || kind == "mlp-speculator") {
        sim::MedusaDrafter heads{depth, 1};
        heads.kind = kind == "medusa" ? sim::HeadsKind::medusa : kind == "hydra" ? sim::HeadsKind::hydra : sim::HeadsKind::mlp;
        return sim::Drafter{heads};
    }
    if (kind == "model" || kind == "pard") {
        const Mapped<std::string> model = model_named(parts, row.drafter_model);
        if (const auto* unmapped = std::get_if<Unmapped>(&model)) {
            return Unmapped{"no description of the draft model", unmapped->detail.empty() ? row.drafter : unmapped->detail};
        }
        const sim::Model& draft = parts.models.at(std::get<std::string>(model));
        sim::IndependentDrafter drafter{draft, draft.precision, kind == "pard"};
        drafter.translated = draft.vocabulary != target.vocabulary;  // the run took place, so its engine translates tokens
        return sim::Drafter{std::move(drafter)};
    }
    return Unmapped{"drafter kind is not known", row.drafter};
}

MeasuredQuantity quantity_of(const std::string& metric) {
    const bool of_a_user = metric == "tok_s_per_user" || metric.starts_with("tpot") || metric.starts_with("itl");
    return of_a_user ? MeasuredQuantity::speed_up : MeasuredQuantity::throughput_gain;
}

/// Prompt, answer and context, from the row where it states them.
void set_lengths(const SpeculationRow& row, const NameTable& names, MeasuredPoint& point) {
    const DatasetEntry& dataset = dataset_for(names, row.dataset);
    const bool thinks = row.thinks || normalised(row.model).find("thinking") != std::string::npos;
    const double answer = row.output_tokens.value_or(thinks ? names.reasoning_output_tokens : dataset.output_tokens);
    point.prompt_tokens = row.prompt_tokens.value_or(row.context.value_or(dataset.prompt_tokens));
    if (row.new_prompt_tokens && *row.new_prompt_tokens < point.prompt_tokens) {
        point.prefix_hit = 1.0 - *row.new_prompt_tokens / point.prompt_tokens;
    }
    if (row.shares_prompt) {
        point.shared_prefix = point.prompt_tokens;
    }
    point.expert_pool = row.expert_pool.value_or(1.0);
    point.host_speed = row.host_speed;
    point.power_limit = row.power_limit;
    // Sequences of a batch begin together: none waits for a prompt between its tokens, though all prompts take their time.
    const bool of_a_user = quantity_of(row.metric) == MeasuredQuantity::speed_up;
    const bool decoding_only = dataset.decoding_only || (row.batch_kind.starts_with("batch") && of_a_user);
    point.output_tokens = decoding_only ? 0.0 : answer;
    point.context = (row.context ? *row.context : point.prompt_tokens) + 0.5 * answer;
}

/// Whether the row says nothing of how many devices there were.
bool lacks_devices(const SpeculationRow& row) { return !row.ranks.tensor && !row.ranks.devices; }

/// A step of plain decoding as the row measured it; 0 where it does not say.
double measured_plain_step(const SpeculationRow& row) {
    if (!row.value_without || *row.value_without <= 0.0) {
        return 0.0;
    }
    const double value = *row.value_without;
    return row.metric == "output_tok_s"                                      ? *row.batch / value
           : row.metric == "tok_s_per_user"                                  ? 1.0 / value
           : row.metric.starts_with("tpot") || row.metric.starts_with("itl") ? 1e-3 * value
                                                                             : 0.0;
}

/// Whether plain decoding was measured faster than the weights can be read, so that the checkpoint was in another format than
/// the row says. Looks at dense models alone: which experts a step reads is not known.
bool reads_faster_than_memory(const ServingParts& parts, const MeasuredPoint& point) {
    if (sim::has_experts(parts.models.at(point.model))) {
        return false;
    }
    const double step = point.plain_step;
    // Rows of the embedding are looked up, not read, unless it is the LM head as well; a tenth is what errors of both figures
    // may come to.
    const sim::Model& model = parts.models.at(point.model);
    const Bytes weights = sim::stored_weights(model, point.precision, point.cut.tensor, point.cut.parallel);
    const Bytes embedding = point.precision.embeddings.per_element() *
                            (static_cast<double>(model.vocabulary_size * model.width) / point.cut.tensor);
    const Bytes read = std::min(weights * 0.9, model.tied_embeddings ? weights : weights - embedding);
    return step > 0.0 && step < (read / parts.devices.at(point.device).bandwidth).value();
}

UnstatedLengths unstated_lengths(const SpeculationRow& row, const NameTable& names) {
    return {!row.prompt_tokens && !row.context, !row.output_tokens && !dataset_for(names, row.dataset).decoding_only};
}

/// A row that can be priced but for its format, which it may leave open.
struct Candidate {
    SpeculationRow row;
    StatedPlace place;
    MeasuredPoint point;

    /// Rows that ran the same checkpoint.
    [[nodiscard]] std::string deployment() const {
        return fmt::format("{}|{}|{}|{}|{}", row.source, point.model, point.device, point.stack,
                           sim::text_of(point.cut.tensor, point.cut.parallel));
    }
};

/// In the format that these words add to what the row states.
std::optional<MeasuredPoint> point_in_format(const Candidate& candidate, const std::string& words, const ServingParts& parts) {
    StatedPlace place = candidate.place;
    place.format += " " + words;
    MeasuredPoint point = candidate.point;
    return set_place(place, parts, point) ? std::nullopt : std::optional(std::move(point));
}

/// How many of NameTable::narrower_formats are too wide to be read as fast as the row's plain decoding was: 0 where the
/// published checkpoint can be; nothing where a stated format cannot, or none of them.
std::optional<std::size_t> formats_too_wide(const Candidate& candidate, const ServingParts& parts) {
    if (lacks_devices(candidate.row) && format_in(parts.names, candidate.place.format) != nullptr) {
        return 0;  // more devices explain it
    }
    if (!reads_faster_than_memory(parts, candidate.point)) {
        return 0;
    }
    if (format_in(parts.names, candidate.place.format) == nullptr) {
        for (std::size_t i = 0; i < parts.names.narrower_formats.size(); ++i) {
            const auto narrower = point_in_format(candidate, parts.names.narrower_formats[i], parts);
            if (narrower && !reads_faster_than_memory(parts, *narrower)) {
                return i + 1;
            }
        }
    }
    return std::nullopt;
}

std::optional<Unmapped> set_draft(const SpeculationRow& row, const ServingParts& parts, MeasuredPoint& point) {
    const NameEntry* kind = entry_for(parts.names.drafters, normalised(row.drafter));
    if (kind == nullptr || kind->name.empty()) {
        return Unmapped{kind == nullptr ? "drafter kind is not known" : kind->reason, row.drafter};
    }
    Mapped<sim::Speculation> speculation = speculation_of(row);
    if (const auto* unmapped = std::get_if<Unmapped>(&speculation)) {
        return *unmapped;
    }
    point.speculation = std::move(std::get<sim::Speculation>(speculation));
    point.drafter_kind = kind->name;
    point.adaptive = kind->adaptive && sim::is_chain(*point.speculation);
    if (point.adaptive) {
        point.assumed.emplace_back("verified tokens");
    }
    Mapped<sim::Drafter> drafter =
        drafter_of(row, kind->name, parts.models.at(point.model), static_cast<int>(row.draft_tokens.value_or(4.0)),
                   static_cast<int>(draft_depth(point)), parts);
    if (const auto* unmapped = std::get_if<Unmapped>(&drafter)) {
        return *unmapped;
    }
    point.drafter = std::move(std::get<sim::Drafter>(drafter));
    return std::nullopt;
}

/// The row as a design point, but for what follows from other rows: its format, if it leaves that open.
Mapped<Candidate> candidate_of(const SpeculationRow& stated, std::size_t number, const ServingParts& parts) {
    MeasuredPoint point;
    point.row = number;
    const SpeculationRow row = completed(stated, parts.names, point.assumed);
    if (Unmapped rule = rule_against(row); !rule.reason.empty()) {
        return rule;
    }
    // Quantisation is often part of the model's or the device's text: "Qwen3.8-27B (FP8)", "RTX 3090 24GB (Q4_K_M, 128K)".
    const std::string format = row.format + " " + row.model + " " + row.device;
    const StatedPlace place{row.model, row.device, row.engine, row.engine_version, format, row.ranks};
    if (const std::optional<Unmapped> unmapped = set_place(place, parts, point)) {
        return *unmapped;
    }
    if (const std::optional<Unmapped> unmapped = set_draft(row, parts, point)) {
        return *unmapped;
    }
    set_lengths(row, parts.names, point);
    point.attends_to_all = row.attends_to_all;
    // A build named after its kernels runs its own for experts that those do not serve.
    const auto kernels = parts.expert_kernels.find(row.expert_kernels);
    if (kernels != parts.expert_kernels.end() && sim::serves(kernels->second, parts.models.at(point.model), point.precision)) {
        point.expert_kernels = row.expert_kernels;
    }
    if (parts.attention_kernels.contains(row.attention_kernels)) {
        point.attention_kernels = row.attention_kernels;
    }
    const std::vector<sim::Interconnect>& links = parts.devices.at(point.device).interconnects;
    if (std::any_of(links.begin(), links.end(), [&](const auto& link) { return link.name == row.interconnect; })) {
        point.interconnect = row.interconnect;
    }
    point.batch = std::max(1.0, *row.batch / row.ranks.data.value_or(1.0));  // of one replica
    point.most_requests = row.most_requests.value_or(sim::unlimited);
    point.vector_rows = row.vector_rows;
    point.plain_step = measured_plain_step(row);
    point.reports_defect = row.reports_defect;
    point.differs_in_more = row.differs_in_more;
    point.own_stack = engine_for(parts.names, row.engine)->own_stack;
    point.measured = *row.speed_up;
    point.quantity = quantity_of(row.metric);
    point.documented = fits_any(parts.names.documented, normalised(row.source));
    point.citation = row.citation.empty() ? row.source : row.citation;
    point.seen = std::any_of(parts.names.evidence.begin(), parts.names.evidence.end(),
                             [&](const EvidenceEntry& entry) { return fits_any(entry.citations, normalised(point.citation)); });
    if (row.accept_length && !point.adaptive && *row.accept_length <= draft_depth(point) + 1.0) {
        point.accept_length = row.accept_length;
        point.prints_length = row.prints_accept_length;
        point.length_at_bound = *row.accept_length <= 1.0 || *row.accept_length >= draft_depth(point) + 1.0;
    }
    return Candidate{row, place, std::move(point)};
}

/// How far the plain steps of some rows are from what they would take on so many ranks, by logarithms; nothing where it cannot
/// be priced there.
std::optional<double> distance_of_plain_steps(const std::vector<Candidate*>& rows, double ranks, const ServingParts& parts) {
    double sum = 0.0;
    for (const Candidate* row : rows) {
        MeasuredPoint plain = row->point;
        plain.cut = {ranks, {}};
        plain.speculation.reset();
        plain.drafter = sim::NoDrafter{};
        if (const double measured = plain.plain_step; measured > 0.0) {
            if (!problems_of(setup_of(plain, parts, sim::CostMode::roofline)).empty()) {
                return std::nullopt;
            }
            sum += std::abs(std::log(predicted_time_per_token(plain, parts, sim::CostMode::calibrated) / measured));
        }
    }
    return sum;
}

/// Rows that do not say how many devices ran them have the power of two, of those whose memory holds the weights, whose plain
/// steps come nearest to theirs, one number for a deployment. Speed-ups are not looked at.
void assume_devices(std::vector<Candidate>& candidates, const ServingParts& parts) {
    constexpr double most_of_a_host = 8.0;
    std::map<std::string, std::vector<Candidate*>> deployments;
    for (Candidate& candidate : candidates) {
        if (lacks_devices(candidate.row) && candidate.point.plain_step > 0.0) {
            deployments[candidate.deployment()].push_back(&candidate);
        }
    }
    for (const auto& [name, rows] : deployments) {
        double best = rows.front()->point.cut.tensor, least = std::numeric_limits<double>::infinity();
        for (double ranks = best; ranks <= most_of_a_host; ranks *= 2.0) {
            if (const std::optional<double> distance = distance_of_plain_steps(rows, ranks, parts);
                distance && *distance < least) {
                least = *distance;
                best = ranks;
            }
        }
        for (Candidate* row : rows) {
            row->point.cut = {best, {}};
            row->point.assumed.emplace_back("devices");
        }
    }
}

}  // namespace

MeasuredPoints points_of(std::span<const SpeculationRow> rows, const ServingParts& parts) {
    MeasuredPoints result;
    std::vector<Candidate> candidates;
    std::map<std::string, std::size_t> too_wide;  // of the rows of a deployment that can be read at all, the most
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Mapped<Candidate> mapped = candidate_of(rows[i], i, parts);
        if (const auto* unmapped = std::get_if<Unmapped>(&mapped)) {
            result.left_out.push_back({i, unmapped->reason, unmapped->detail, {}});
            continue;
        }
        candidates.push_back(std::move(std::get<Candidate>(mapped)));
        const Candidate& candidate = candidates.back();
        if (const std::optional<std::size_t> count = formats_too_wide(candidate, parts)) {
            std::size_t& most = too_wide[candidate.deployment()];
            most = std::max(most, *count);
        } else {
            result.left_out.push_back(
                {i, "faster than its checkpoint can be read: the format is not stated", candidate.row.format, {}});
            candidates.pop_back();
        }
    }
    for (Candidate& candidate : candidates) {
        const std::size_t narrower = too_wide.at(candidate.deployment());
        if (narrower > 0 && format_in(parts.names, candidate.place.format) == nullptr) {
            candidate.point = *point_in_format(candidate, parts.names.narrower_formats[narrower - 1], parts);
            candidate.point.assumed.emplace_back("format");
        }
    }
    assume_devices(candidates, parts);
    for (Candidate& candidate : candidates) {
        const std::size_t before = result.points.size();
        add_point(std::move(candidate.point), parts, result);
        if (result.points.size() > before &&
            unstated_lengths_matter(result.points.back(), unstated_lengths(candidate.row, parts.names), parts)) {
            result.points.back().assumed.emplace_back("lengths");
        }
    }
    mark_contradictions(result.points, rows, parts);
    std::stable_sort(result.left_out.begin(), result.left_out.end(),
                     [](const LeftOutPoint& a, const LeftOutPoint& b) { return a.row < b.row; });
    return result;
}

}  // namespace treeline::validation
