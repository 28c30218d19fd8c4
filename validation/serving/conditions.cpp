// What a row leaves open and its source, engine or drafter fixes.
#include "validation/serving/points.h"

namespace treeline::validation {
namespace {

bool fits_or_any(const std::vector<std::string>& patterns, const std::string& text) {
    return patterns.empty() || fits_any(patterns, normalised(text));
}

bool holds_of(const ConditionEntry& entry, const SpeculationRow& row, const NameTable& names) {
    return fits_or_any(entry.series, row.series) && fits_or_any(entry.engines, row.engine) &&
           fits_or_any(entry.engine_versions, row.engine_version) && fits_or_any(entry.drafters, row.drafter) &&
           fits_or_any(entry.drafter_models, row.drafter_model) && fits_or_any(entry.formats, row.format) &&
           (entry.models.empty() || fits_any(entry.models, model_stem(row.model, names)));
}

/// "", "not stated", "see thread".
bool says_nothing(const std::string& text) {
    const std::string words = normalised(text);
    return words.empty() || words.starts_with("not-") || words.starts_with("see-");
}

}  // namespace

SpeculationRow completed(SpeculationRow row, const NameTable& names, std::vector<std::string>& assumed) {
    bool lacks_draft = !row.draft_tokens && !row.tree_size;
    bool lacks_device = says_nothing(row.device);
    const bool lacks_version = row.engine_version.empty();
    for (const ConditionEntry& entry : names.conditions) {
        if (!holds_of(entry, row, names)) {
            continue;
        }
        if (lacks_draft && (entry.draft_tokens || entry.tree_size)) {
            row.draft_tokens = entry.draft_tokens;
            row.tree_steps = entry.tree_steps;
            row.tree_top_k = entry.tree_top_k;
            row.tree_size = entry.tree_size;
            if (!entry.is_stated()) {
                assumed.emplace_back("draft length");
            }
            lacks_draft = false;
        }
        if (lacks_device && !entry.device.empty()) {
            row.device = entry.device;
            if (!entry.is_stated()) {
                assumed.emplace_back("device");
            }
            lacks_device = false;
        }
        if (!entry.engine.empty()) {
            row.engine = entry.engine;
        }
        if (!entry.engine_version.empty() &&
            (row.engine_version.empty() || (!lacks_version && !entry.engine_versions.empty()))) {
            row.engine_version = entry.engine_version;
        }
        if (row.drafter_model.empty()) {
            row.drafter_model = entry.drafter_model;
        }
        if (entry.counts_rounds_that_drafted && row.prints_accept_length) {
            row.accept_length.reset();
        }
        row.attends_to_all = row.attends_to_all || entry.attends_to_all;
        row.reports_defect = row.reports_defect || entry.reports_defect;
        row.differs_in_more = row.differs_in_more || entry.differs_in_more;
        row.shares_prompt = row.shares_prompt || entry.shares_prompt;
        if (row.expert_kernels.empty()) {
            row.expert_kernels = entry.expert_kernels;
        }
        if (row.attention_kernels.empty()) {
            row.attention_kernels = entry.attention_kernels;
        }
        if (row.interconnect.empty()) {
            row.interconnect = entry.interconnect;
        }
        if (!row.ranks.devices && !row.ranks.tensor) {
            row.ranks.devices = row.ranks.tensor = entry.devices;
        }
        if (!row.ranks.expert) {
            row.ranks.expert = entry.experts;
        }
        if (!row.ranks.draft) {
            row.ranks.draft = entry.draft_ranks;
        }
        if (entry.replicas && !row.ranks.data && row.ranks.devices && row.ranks.tensor) {
            row.ranks.data = *row.ranks.devices / *row.ranks.tensor;
        }
        if (!entry.unstated.empty()) {
            assumed.push_back(entry.unstated);
        }
        if (!row.most_requests) {
            row.most_requests = entry.most_requests;
        }
        if (!row.vector_rows) {
            row.vector_rows = entry.vector_rows;
        }
        if (!row.expert_pool) {
            row.expert_pool = entry.expert_pool;
        }
        if (!row.host_speed) {
            row.host_speed = entry.host_speed;
        }
        if (!row.power_limit) {
            row.power_limit = entry.power_limit;
        }
        if (!row.new_prompt_tokens) {
            row.new_prompt_tokens = entry.new_prompt_tokens;
        }
        if (!entry.format.empty()) {
            row.format = entry.format;
        }
        if (!row.output_tokens) {
            row.output_tokens = entry.output_tokens;
        }
    }
    return row;
}

}  // namespace treeline::validation
