#include "calibrate/tables/decoder_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "calibrate/tables/layer_check.h"
#include "calibrate/tables/table_rows.h"
#include "calibrate/timings.h"
#include "json/reader.h"
#include "text/table.h"

namespace treeline::calibrate {
namespace {

bool is_of(const HeldOutDecoder& decoder, TableRow& row) {
    const KernelCase kernel = decoder_case(decoder);
    return std::all_of(kernel.columns.begin(), kernel.columns.end(),
                       [&](const auto& column) { return row.has(column.first) && row.text(column.first) == column.second; });
}

DecoderCheck checked(const HeldOutDecoder& decoder, const sim::Device& device, const MeasuredRow& measured, TableRow& row) {
    const auto part = [&row](const char* name) { return Seconds(1e-6 * row.number(name, 0.0)); };
    DecoderCheck check{
        decoder, measured.time, {}, {part("draft_us"), part("verify_us"), part("rollback_us"), part("host_us")}, {}};
    const bool on_gpu = device.kind == sim::DeviceKind::gpu;
    check.predicted_phases =
        predicted_phases(setup_of(decoder, HeldOutRounds{}, on_gpu), device, static_cast<double>(decoder.context));
    check.predicted = check.predicted_phases.round();
    return check;
}

Seconds time_per_token(const DecoderCheck& check, Seconds DecoderCheck::*round) { return check.*round / check.tokens(); }

DecoderChoice choice_within(std::vector<DecoderCheck>::const_iterator first, std::vector<DecoderCheck>::const_iterator last) {
    const auto best_by = [&](Seconds DecoderCheck::*round) {
        return std::min_element(first, last, [&](const DecoderCheck& a, const DecoderCheck& b) {
            return time_per_token(a, round) < time_per_token(b, round);
        });
    };
    const auto measured = best_by(&DecoderCheck::measured), predicted = best_by(&DecoderCheck::predicted);
    return {group_of(first->decoder), policy_of(measured->decoder), policy_of(predicted->decoder),
            time_per_token(*predicted, &DecoderCheck::measured) / time_per_token(*measured, &DecoderCheck::measured) - 1.0,
            static_cast<std::size_t>(last - first)};
}

}  // namespace

KernelCase decoder_case(const HeldOutDecoder& decoder) {
    KernelCase result;
    result.table = "decoder";
    result.columns = {{"family", std::string(name_of(decoder.family))},
                      {"dtype", std::string(name_of(decoder.format))},
                      {"batch", std::to_string(decoder.batch)},
                      {"context", std::to_string(decoder.context)},
                      {"drafter", std::string(name_of(decoder.drafter))},
                      {"draft", draft_of(decoder)},
                      {"verification", std::string(name_of(decoder.verification))},
                      {"rollback", std::string(name_of(decoder.rollback))},
                      {"accepted", std::to_string(decoder.accepted)}};
    return result;
}

std::vector<DecoderCheck> checked_decoders(const std::vector<MeasuredFile>& files, const sim::Device& device) {
    const std::vector<HeldOutDecoder> decoders = held_out_decoders(device.kind == sim::DeviceKind::gpu, false);
    std::vector<std::string> problems;
    std::vector<std::pair<std::ptrdiff_t, DecoderCheck>> found;
    for (const MeasuredFile& file : files) {
        for (const MeasuredRow& measured : file.rows) {
            const TableKind* kind = kind_of(measured);
            if (kind == nullptr || kind->name != "decoder") {
                continue;
            }
            TableRow row(measured, problems);
            const auto decoder =
                std::find_if(decoders.begin(), decoders.end(), [&](const HeldOutDecoder& d) { return is_of(d, row); });
            if (decoder == decoders.end()) {
                problems.push_back(fmt::format("{}: is not a decoder that Treeline holds out", measured.place));
            } else {
                found.emplace_back(decoder - decoders.begin(), checked(*decoder, device, measured, row));
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<DecoderCheck> checks;
    for (auto& [place, check] : found) {
        checks.push_back(std::move(check));
    }
    return checks;
}

std::vector<DecoderChoice> choices_of(const std::vector<DecoderCheck>& decoders) {
    std::vector<DecoderChoice> choices;
    for (auto first = decoders.begin(); first != decoders.end();) {
        const std::string group = group_of(first->decoder);
        const auto last =
            std::find_if(first, decoders.end(), [&](const DecoderCheck& check) { return group_of(check.decoder) != group; });
        if (last - first > 1) {
            choices.push_back(choice_within(first, last));
        }
        first = last;
    }
    return choices;
}

}  // namespace treeline::calibrate
