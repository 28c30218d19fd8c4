// What comes before and after the layers: embedding, final normalisation, LM head.
#include "sim/layers/layers.h"

namespace treeline::sim {

void append_embedding(const Model& model, const LayerContext& context, std::vector<Operation>& operations) {
    const double width = static_cast<double>(model.width);
    const double rows = static_cast<double>(model.vocabulary_size);
    Operation operation = element_wise(context, "token embedding", width, 1.0, 0.0);
    operation.part = ModelPart::embedding;
    operation.weight_elements = rows * width;
    const Bytes element = weight_format(context.precision, operation.name, context.precision.embeddings).storage.per_element();
    operation.stored = element * (rows * width / context.ranks);
    operation.bytes.per_token += element * width;  // one row per token
    operations.push_back(operation);
    // Each rank looks up the rows of its part of the vocabulary, and their sum is everybody's input.
    const std::size_t before = operations.size();
    append_all_reduce(context, width, operations);
    for (std::size_t i = before; i < operations.size(); ++i) {
        operations[i].part = ModelPart::embedding;
    }
}

void append_head(const Model& model, const LayerContext& context, std::vector<Operation>& operations) {
    const double width = static_cast<double>(model.width);
    const double rows = static_cast<double>(model.vocabulary_size);
    const double local_rows = rows / context.ranks;

    Operation norm = residual_norm(context, "final norm", width);
    norm.part = ModelPart::head;
    norm.weight_elements = static_cast<double>(model.final_norm_vectors) * width;
    norm.active_elements = norm.weight_elements;
    norm.stored = context.precision.activations.per_element() * norm.weight_elements;
    operations.push_back(norm);

    Operation head = start_operation(context, "LM head", OperationKind::linear);
    head.part = ModelPart::head;
    const WeightFormat format = weight_format(context.precision, head.name, context.precision.embeddings);
    head.math = format.math;
    head.bytes.fixed = format.storage.per_element() * (local_rows * width);
    head.weight_elements = model.tied_embeddings ? 0.0 : rows * width;
    head.active_elements = rows * width;
    head.stored = model.tied_embeddings ? Bytes(0.0) : head.bytes.fixed;
    head.inputs = width;
    head.outputs = local_rows;
    head.flops.per_logit = Flops(2.0 * width * local_rows);
    head.bytes.per_logit = context.precision.activations.per_element() * width + Bytes(4.0 * local_rows);  // fp32 logits
    operations.push_back(head);
    const std::size_t before = operations.size();
    append_all_gather(context, rows, true, operations);
    for (std::size_t i = before; i < operations.size(); ++i) {
        operations[i].part = ModelPart::head;
    }
}

}  // namespace treeline::sim
