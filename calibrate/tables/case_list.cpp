#include "calibrate/tables/case_list.h"

#include <algorithm>

#include "calibrate/held_out_layer.h"
#include "calibrate/kernel_samples.h"
#include "calibrate/tables/table_rows.h"
#include "sim/law_choice.h"
#include "text/input_error.h"

namespace treeline::calibrate {
namespace {

/// The case as a row that was measured.
MeasuredRow row_of(const KernelCase& kernel) {
    MeasuredRow row;
    row.place = kernel.name();
    row.values.insert(kernel.columns.begin(), kernel.columns.end());
    row.time = Seconds(1.0);
    return row;
}

/// The law that our own measurements would replace, or else the first of the class.
const sim::KernelLaw* law_of(const ConvertedRow& converted, const sim::Device& device) {
    if (!device.calibration) {
        return nullptr;
    }
    const sim::KernelLaw* own =
        sim::own_law(*device.calibration, converted.kernel, converted.format, converted.sample.operation);
    return own != nullptr ? own : device.calibration->law(converted.kernel, converted.format, converted.family);
}

void price(const ConvertedRow& converted, const sim::Device& device, ListedCase& listed) {
    listed.bytes = bytes_at(converted.sample);
    listed.flops = flops_at(converted.sample);
    const sim::Rates data_sheet = data_sheet_of(device, converted.kernel, converted.format);
    const sim::KernelLaw* law = law_of(converted, device);
    listed.by_law = law != nullptr;
    listed.expected = law != nullptr ? predicted(*law, data_sheet, converted.sample)
                                     : std::max(listed.bytes * data_sheet.per_byte, listed.flops * data_sheet.per_flop);
}

void price_layer(const HeldOutLayer& layer, const sim::Device& device, ListedCase& listed) {
    const sim::ShapeTerms terms = terms_of(layer.shape);
    for (const sim::Operation& operation : operations_of(layer)) {
        listed.bytes = listed.bytes + (operation.reads_context ? sim::bytes_of<true, false>(operation, terms)
                                                               : sim::bytes_of<false, false>(operation, terms)) *
                                          operation.count;
        listed.flops = listed.flops + (operation.reads_context ? sim::flops_of<true>(operation, terms)
                                                               : sim::flops_of<false>(operation, terms)) *
                                          operation.count;
    }
    listed.by_law = device.calibration.has_value();
    listed.expected = listed.by_law ? predicted_time(layer, device) : listed.bytes / device.bandwidth;
}

}  // namespace

std::size_t rotation_for(Bytes cache, Bytes memory, bool on_gpu) {
    const double wanted = std::max(4.0 * cache.value(), on_gpu ? 4e9 : 2e8);
    const double room = memory > Bytes(0.0) ? memory.value() / 12.0 : wanted;
    return static_cast<std::size_t>(std::min(wanted, room));
}

std::size_t probe_bytes_for(std::size_t rotation) { return rotation / 4 / 256 * 256; }

std::vector<ListedCase> listed_cases(const sim::Device& device, bool quick) {
    const bool on_gpu = device.kind == sim::DeviceKind::gpu;
    const std::size_t rotation = rotation_for(device.cache, device.memory, on_gpu);
    const std::vector<HeldOutLayer> layers = held_out_layers(on_gpu, quick);
    auto layer = layers.begin();
    std::vector<ListedCase> listed;
    std::vector<std::string> problems;
    for (const KernelCase& kernel :
         kernel_cases({quick ? Thoroughness::quick : Thoroughness::full, on_gpu}, probe_bytes_for(rotation))) {
        const HeldOutLayer* held_out = kernel.table == "layer" ? &*layer++ : nullptr;
        if (kernel.largest_piece > rotation) {
            continue;  // measuring leaves it out, too
        }
        ListedCase& each = listed.emplace_back();
        each.name = kernel.name();
        each.takes_two_devices = kernel.prepare_peers != nullptr;
        each.working_set = Bytes(static_cast<double>(kernel.working_set()));
        const MeasuredRow measured = row_of(kernel);
        const TableKind* kind = kind_of(measured);
        TableRow row(measured, problems);
        if (kind != nullptr && kind->convert != nullptr) {
            price(kind->convert(row), device, each);
            each.stands_for = on_gpu ? std::string(kind->stands_for) : std::string();
        } else if (held_out != nullptr) {
            price_layer(*held_out, device, each);
        } else {
            each.bytes = each.working_set;
            each.expected = each.bytes / device.bandwidth;
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return listed;
}

}  // namespace treeline::calibrate
