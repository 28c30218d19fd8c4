// One interface to every kernel: a table of functions for each way to run them.
//
//     const Backend& kernels = cpu_backend();
//     kernels.scan(scan, queue);
//
// Every kernel throws std::invalid_argument if its check() does, and KernelError if the device fails. Pointers in
// arguments are to memory of the backend's device; on a CUDA device kernels are queued and may be captured into a graph.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention.h"
#include "kernels/convolution.h"
#include "kernels/delta_scan.h"
#include "kernels/experts.h"
#include "kernels/gather.h"
#include "kernels/latent_attention.h"
#include "kernels/linear.h"
#include "kernels/pointwise.h"
#include "kernels/probes.h"
#include "kernels/rotary.h"
#include "kernels/state_scan.h"
#include "kernels/verify.h"

namespace treeline::kernels {

/// The device failed; the message names the call.
class KernelError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Where work is put. Work of one queue runs in order. Reference and CPU have one queue and return when the work is done.
struct Queue {
    void* stream = nullptr;  ///< a cudaStream_t (kernels/cuda/stream.h); null: the default stream
};

struct Backend {
    std::string_view name;

    void* (*allocate)(std::size_t bytes);  ///< aligned to 256 bytes, contents undefined
    void (*release)(void* memory);
    void (*upload)(void* to, const void* from_host, std::size_t bytes, Queue queue);
    void (*download)(void* to_host, const void* from, std::size_t bytes, Queue queue);  ///< returns when done
    void (*wait)(Queue queue);                                                          ///< until all work of the queue is done

    void (*scan)(const Scan&, Queue);
    void (*tree_scan)(const TreeScan&, Queue);
    void (*chunk_scan)(const ChunkScan&, Queue);
    void (*channel_scan)(const ChannelScan&, Queue);
    void (*delta_scan)(const DeltaScan&, Queue);
    void (*convolution_update)(const ConvolutionUpdate&, Queue);
    void (*convolution_advance)(const ConvolutionAdvance&, Queue);
    void (*attention)(const Attention&, Queue);
    void (*latent_attention)(const LatentAttention&, Queue);
    void (*head_linear)(const HeadLinear&, Queue);
    void (*repeat_heads)(const RepeatHeads&, Queue);
    void (*linear)(const Linear&, Queue);
    void (*add_bias)(const AddBias&, Queue);
    void (*rms_norm)(const RmsNorm&, Queue);
    void (*gated_rms_norm)(const GatedRmsNorm&, Queue);
    void (*gated_activation)(const GatedActivation&, Queue);
    void (*rotary)(const Rotary&, Queue);
    void (*expert_choice)(const ExpertChoice&, Queue);
    void (*expert_linear)(const ExpertLinear&, Queue);
    void (*expert_sum)(const ExpertSum&, Queue);
    void (*top_choices)(const TopChoices&, Queue);
    void (*greedy_verification)(const GreedyVerification&, Queue);
    void (*rejection_verification)(const RejectionVerification&, Queue);
    void (*gather_rows)(const GatherRows&, Queue);
    void (*read_probe)(const ReadProbe&, Queue);
    void (*write_probe)(const WriteProbe&, Queue);
    void (*copy_probe)(const CopyProbe&, Queue);
    void (*empty)(Queue);  ///< a launch that does nothing: an empty parallel region or an empty kernel
};

/// Double precision inside, one plain loop nest each: what the others are tested against.
const Backend& reference_backend();
/// OpenMP over independent parts, loops that the compiler vectorises; OpenBLAS for matrix products of several rows.
const Backend& cpu_backend();
/// The current CUDA device's. Each function throws KernelError if available_devices() finds none.
const Backend& cuda_backend();

struct CudaDevice {
    int index = 0;
    std::string name;
    std::string pci_bus_id;    ///< "0000:3b:00.0"
    int major = 0, minor = 0;  ///< compute capability
    int multiprocessors = 0;
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;
    int driver_version = 0;  ///< 1000 * major + 10 * minor of the newest CUDA that the driver knows
};

struct CudaDevices {
    std::vector<CudaDevice> devices;
    std::string reason;  ///< why there is none; empty when there is one
};

CudaDevices available_devices();

}  // namespace treeline::kernels
