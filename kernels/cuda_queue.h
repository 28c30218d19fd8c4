// Queues of a CUDA device, work recorded once and replayed as a graph, and the device's own clock. Plain C++: usable from code
// that knows nothing of CUDA. Everything throws KernelError if there is no device.
#pragma once

#include <functional>

#include "kernels/backend.h"

namespace treeline::kernels {

/// Makes the device the current one of this thread, on which memory, queues and kernels are made from now on.
void select_cuda_device(int index);

/// A queue besides the default one; recording needs one.
class CudaQueue {
public:
    CudaQueue();
    CudaQueue(const CudaQueue&) = delete;
    CudaQueue& operator=(const CudaQueue&) = delete;
    ~CudaQueue();
    [[nodiscard]] Queue queue() const { return queue_; }

private:
    Queue queue_;
};

/// Work that is launched as a whole: one launch from the host, whatever it holds.
class CudaGraph {
public:
    /// Records what `work` puts into the queue, without running it. `work` must allocate nothing and wait for nothing.
    CudaGraph(const CudaQueue& queue, const std::function<void(Queue)>& work);
    CudaGraph(const CudaGraph&) = delete;
    CudaGraph& operator=(const CudaGraph&) = delete;
    ~CudaGraph();
    void replay(Queue queue) const;

private:
    void* graph_ = nullptr;
};

/// Seconds that the device took for what was put into a queue between start() and stop().
class CudaTimer {
public:
    CudaTimer();
    CudaTimer(const CudaTimer&) = delete;
    CudaTimer& operator=(const CudaTimer&) = delete;
    ~CudaTimer();
    void start(Queue queue);
    void stop(Queue queue);
    /// Waits for the end first. Resolution about half a microsecond.
    [[nodiscard]] double seconds() const;

private:
    void* start_ = nullptr;
    void* stop_ = nullptr;
};

}  // namespace treeline::kernels
