// Descriptions by name: models, devices and software stacks, as structs.
//
// Every function throws InputError (text/input_error.h) where a name is unknown or a description is faulty: what() holds one
// sentence a line, problems() a list. A name may also be the path of a description of your own, or of a Hugging Face
// config.json.
#pragma once

#include <string>
#include <vector>

#include "hardware/catalogue.h"
#include "models/catalogue.h"
#include "requests/catalogue.h"
#include "sweeps/choices.h"

namespace treeline {

// What programs name most, without the namespace of its folder (here and in the other headers of the facade).
using requests::Catalogue;
using requests::catalogue_among;
using requests::catalogue_in;
using sim::Device;
using sim::Model;
using sim::Platform;
using sim::Precision;
using sim::Stack;
using sweeps::TargetChoice;
using text::InputError;

/// The catalogue of $TREELINE_DATA, else the one installed with the library, else the one that the library carries. To use
/// another one: catalogue_in("folder", "my setting").
inline requests::Catalogue installed_catalogue() { return requests::catalogue_among({TREELINE_DATA_FOLDER}); }

/// A target as its checkpoint is published. Change `precision` (and `precision_label`) of what is returned to quantise it.
sweeps::TargetChoice find_target(const std::string& model, const requests::Catalogue& catalogue = installed_catalogue());

/// `ranks` devices that share each layer, under a stack (empty: "cuda-graph", on CPUs "cpu"), priced as a roofline. A device
/// may be an accelerator design on an FPGA board, which has no stack.
sim::Platform find_platform(const std::string& device, const std::string& stack = {}, int ranks = 1,
                            const requests::Catalogue& catalogue = installed_catalogue());

/// JSON lists of what the catalogue holds, in the keys of `treeline models --format json` and `treeline hardware --format
/// json`.
std::string models_json(const requests::Catalogue& catalogue = installed_catalogue());
std::string hardware_json(const requests::Catalogue& catalogue = installed_catalogue());

}  // namespace treeline
