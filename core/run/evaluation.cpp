// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/evaluation.h"

#include "core/backend/cpu/linear_algebra/matmul.h"
#include "core/base/error.h"
#include "core/session/hdf5.h"
#include "core/session/named_arrays.h"
#include "core/train/data/corpus.h"
#include "core/train/data/image_corpus.h"
#include "core/train/first_bad.h"
#include "core/train/gate_clip.h"
#include "core/train/optimizers.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace normscope {

namespace {

using hdf5::Shape, hdf5::shape_text;

Shape shape_of(const TensorInfo& tensor) {
    return {tensor.shape.begin(), tensor.shape.end()};
}

/// The vocabulary of a recipe's source, without reading a file.
int vocabulary(const Recipe& recipe) {
    const DataSpec& data = recipe.train.data;
    if (recipe.stack.of_images()) return recipe.stack.classes;
    return data.source == DataSource::Text ? 256 : make_corpus(data, recipe.stack)->vocab();
}

template <class T>
void add_tensors(const std::string& group, const ParameterTable& table, const T* arena,
                 std::vector<StoredTensor>& arrays) {
    for (const TensorInfo& t : table.tensors())
        arrays.push_back(stored(group + "/" + t.name, shape_of(t), arena + t.offset));
}

/// [n·d, n·d] of the sub-layers begin … end − 1 at sequence 0, rows are outputs, from one tangent per column.
template <class T>
std::vector<T> dense_jacobian(const Transformer<T>& model, const Tape<T>& tape, int begin, int end,
                              Jacobian kind, ThreadPool& pool) {
    constexpr std::size_t kDirections = 64;
    const std::size_t size =
        static_cast<std::size_t>(tape.length) * static_cast<std::size_t>(model.spec().d_model);
    std::vector<T> matrix(size * size);
    pool.run(static_cast<int>((size + kDirections - 1) / kDirections), [&](int piece) {
        const std::size_t first = static_cast<std::size_t>(piece) * kDirections;
        const std::size_t count = std::min(kDirections, size - first);
        Buffer<T> directions(model.device(), count * size);
        HostEdit<T> given(model.device(), directions.data(), count * size);
        std::fill_n(given.data(), count * size, T(0));
        for (std::size_t i = 0; i < count; ++i) given.data()[i * size + first + i] = 1;
        given.commit();
        model.tangent(tape, 0, begin, end, 0, static_cast<int>(count), kind, directions.data());
        const HostView<T> tangent(directions);
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t out = 0; out < size; ++out)
                matrix[out * size + first + i] = tangent[i * size + out];
    });
    return matrix;
}

template <class T>
void add_jacobians(const Transformer<T>& model, const Tape<T>& tape, Jacobian kind, const std::string& suffix,
                   ThreadPool& pool, std::vector<StoredTensor>& arrays) {
    const std::size_t size =
        static_cast<std::size_t>(tape.length) * static_cast<std::size_t>(model.spec().d_model);
    const auto add = [&](const std::string& name, int begin, int end) {
        const std::vector<T> matrix = dense_jacobian(model, tape, begin, end, kind, pool);
        const std::vector<double> wide(matrix.begin(), matrix.end());
        std::vector<double> values(size);
        singular_values(static_cast<int>(size), static_cast<int>(size), wide.data(), values.data());
        arrays.push_back(stored("/jacobian" + suffix + "/" + name, {size, size}, matrix.data()));
        arrays.push_back(stored("/singular" + suffix + "/" + name, {size}, values.data()));
    };
    const int count = 2 * model.spec().depth;
    for (int i = 0; i < count; ++i) add("sublayer/" + std::to_string(i), i, i + 1);
    add("end_to_end", 0, count);
}

/// Rejected before hours of computation and out of memory.
void check_jacobian_size(const StackSpec& stack, int length, std::size_t scalar_bytes) {
    constexpr double kLimit = 4.0 * (1u << 30);
    const double size = static_cast<double>(length) * stack.d_model;
    const double bytes = (2.0 * stack.depth + 1) * size * size * static_cast<double>(scalar_bytes) *
                         (stack.gpas.enabled ? 2 : 1);
    if (bytes > kLimit)
        throw InputError("--jacobian",
                         std::to_string(2 * stack.depth + 1) + " matrices of " +
                             std::to_string(static_cast<long>(size)) + " rows and columns are too large",
                         "4 GiB in all: fewer tokens, channels or layers");
}

}  // namespace

void complete_for_evaluation(Recipe& recipe) {
    TrainSpec optimizer_only;
    optimizer_only.optimizer = recipe.train.optimizer;
    validate(optimizer_only);
    complete(recipe.stack, recipe.stack.vocab == 0 ? vocabulary(recipe) : recipe.stack.vocab);
    validate(recipe.stack);
}

template <class T>
Transformer<T> model_with_weights(const StackSpec& stack, const std::vector<StoredTensor>& weights,
                                  const std::string& where, Device& device) {
    Transformer<T> model(stack, 0, device);
    HostEdit<T> parameters(model.device(), model.parameters().data(), model.parameters().size());
    std::map<std::string, const StoredTensor*> given;
    for (const StoredTensor& tensor : weights) given[tensor.name] = &tensor;
    for (const TensorInfo& t : model.table().tensors()) {
        const std::string name = where + ": " + t.name,
                          needed = shape_text(shape_of(t)) + " of float32 or float64";
        const auto found = given.find(t.name);
        if (found == given.end()) throw InputError(name, "is missing", needed);
        const StoredTensor& tensor = *found->second;
        if (tensor.shape != shape_of(t))
            throw InputError(name, "has the shape " + shape_text(tensor.shape), needed);
        if (tensor.type != StoredType::Float32 && tensor.type != StoredType::Float64)
            throw InputError(name, "holds whole numbers", needed);
        const std::vector<double> values = as_float64(tensor);
        for (std::size_t i = 0; i < t.count; ++i) {
            const T value = static_cast<T>(values[i]);
            if (!std::isfinite(value))
                throw InputError(name, "entry " + std::to_string(i) + " is not finite in this precision",
                                 needed);
            parameters.data()[t.offset + i] = value;
        }
        given.erase(found);
    }
    if (!given.empty())
        throw InputError(where + ": " + given.begin()->first, "is not a tensor of this recipe",
                         "the " + std::to_string(model.table().tensors().size()) + " tensors of its stack");
    parameters.commit();
    return model;
}

namespace {

/// Of a stack of patches: images [B, channels, size, size] and their classes [B].
Batch read_images(const std::string& path, const StackSpec& stack, const std::string& group) {
    const std::string images = group + "/images", targets = group + "/targets";
    const FileArray<double> pixels = read_file_array<double>(path, images, 4);
    const FileArray<std::int32_t> classes = read_file_array<std::int32_t>(path, targets, 1);
    const auto channels = static_cast<std::size_t>(stack.image.channels),
               size = static_cast<std::size_t>(stack.image.size), B = pixels.shape[0];
    if (B < 1 || B > 1 << 20 || pixels.shape != Shape{B, channels, size, size})
        throw InputError(path + ": " + images, "has the shape " + shape_text(pixels.shape),
                         "[B, " + std::to_string(channels) + ", " + std::to_string(size) + ", " +
                             std::to_string(size) + "] with B from 1");
    if (classes.shape != Shape{B})
        throw InputError(path + ": " + targets, "has the shape " + shape_text(classes.shape),
                         "one class of each image, " + shape_text({B}));
    Batch batch{static_cast<int>(B), stack.context, {}, {}, {}};
    const std::size_t count = channels * size * size;
    for (std::size_t b = 0; b < B; ++b) {
        if (classes.data[b] < 0 || classes.data[b] >= stack.classes)
            throw InputError(path + ": " + targets, std::to_string(classes.data[b]) + " is not a class",
                             "0 … " + std::to_string(stack.classes - 1));
        const auto first = pixels.data.begin() + static_cast<std::ptrdiff_t>(b * count);
        append_image(stack.image, std::vector<float>(first, first + static_cast<std::ptrdiff_t>(count)),
                     classes.data[b], batch);
    }
    return batch;
}

}  // namespace

Batch read_batch(const std::string& path, const StackSpec& stack, const std::string& group) {
    if (stack.of_images()) return read_images(path, stack, group);
    const auto read = [&](const std::string& object) {
        // 64 bits are the default of NumPy and PyTorch; narrower ones are widened.
        FileArray<std::int64_t> array = read_file_array<std::int64_t>(path, object, 2);
        if (array.shape[0] < 1 || array.shape[1] < 1 || array.shape[0] > 1 << 20 ||
            array.shape[1] > static_cast<std::size_t>(stack.context))
            throw InputError(
                path + ": " + object, "has the shape " + shape_text(array.shape),
                "[B, n] with B from 1 and n from 1 to the context " + std::to_string(stack.context));
        for (const std::int64_t id : array.data)
            if (id < 0 || id >= stack.vocab)
                throw InputError(path + ": " + object, std::to_string(id) + " is not a token",
                                 "0 … " + std::to_string(stack.vocab - 1));
        return FileArray<std::int32_t>{array.shape, {array.data.begin(), array.data.end()}};
    };
    FileArray<std::int32_t> tokens = read(group + "/tokens"), targets = read(group + "/targets");
    if (tokens.shape != targets.shape)
        throw InputError(path + ": " + group + "/targets", "has the shape " + shape_text(targets.shape),
                         "that of /tokens, " + shape_text(tokens.shape));
    return {static_cast<int>(tokens.shape[0]), static_cast<int>(tokens.shape[1]), std::move(tokens.data),
            std::move(targets.data)};
}

template <class T>
std::vector<T> stepped_parameters(const Recipe& recipe, const Transformer<T>& model,
                                  const std::vector<T>& gradients, ThreadPool& pool) {
    const OptimizerSpec& optimizer = recipe.train.optimizer;
    Device& device = model.device();
    Buffer<T> g, parameters(device, model.parameters().size());
    g.upload(device, gradients);
    device.copy(parameters.data(), model.parameters().data(), parameters.size() * sizeof(T));
    const double norm = gradient_norm(model.table(), g.data(), pool, device);
    const double clipped = clip_factor(norm, optimizer.clip);
    clip_gates(model.table(), model.spec().gpas.clip, clipped, g.data(), device);
    Optimizer<T>(model.table(), optimizer.kind, device)
        .step(1, optimizer, optimizer.lr, clipped, g.data(), parameters.data(), pool);
    return parameters.values();
}

template <class T>
Evaluation evaluate(const Recipe& recipe, const Transformer<T>& model, const Batch& batch,
                    EvaluationParts parts, ThreadPool& pool) {
    const StackSpec& s = model.spec();
    if (parts.jacobian) check_jacobian_size(s, batch.length, sizeof(T));
    Tape<T> tape;
    Gradients<T> gradients;
    model.forward(batch, tape, pool);
    model.clear(gradients, batch.sequences);
    model.backward(batch, tape, T(1), gradients, pool);
    model.reduce(gradients, pool);

    Evaluation result;
    auto& arrays = result.arrays;
    const auto D = static_cast<std::size_t>(s.depth), B = static_cast<std::size_t>(batch.sequences),
               n = static_cast<std::size_t>(batch.length), d = static_cast<std::size_t>(s.d_model),
               V = static_cast<std::size_t>(s.vocab), H = static_cast<std::size_t>(s.heads);
    std::vector<T> hidden, attention;
    const auto append = [&tape](std::vector<T>& to, const T* values, std::size_t count) {
        const HostView<T> on_host = tape.view(values, count);
        to.insert(to.end(), on_host.begin(), on_host.end());
    };
    for (const T* state : tape.hidden) append(hidden, state, B * n * d);
    for (std::size_t l = 0; l < D; ++l) append(attention, tape.sublayers[2 * l].probabilities, B * H * n * n);
    const HostView<T> final_hidden = tape.view(tape.final_hidden, B * n * d),
                      logits = tape.view(tape.logits, B * n * V);
    const HostView<T> total(gradients.total());
    const T loss = static_cast<T>(tape.mean_loss());
    arrays.push_back(stored("/hidden", {2 * D + 1, B, n, d}, hidden.data()));
    arrays.push_back(stored("/final", {B, n, d}, final_hidden.data()));
    arrays.push_back(stored("/logits", {B, n, V}, logits.data()));
    arrays.push_back(stored("/loss", {}, &loss));
    arrays.push_back(stored("/attention", {D, B, H, n, n}, attention.data()));
    add_tensors("/grad", model.table(), total.data(), arrays);
    result.not_finite = first_bad_value(model, tape, gradients.total().data(), 0);

    if (parts.step) {
        const auto parameters = stepped_parameters<T>(recipe, model, {total.begin(), total.end()}, pool);
        add_tensors("/step", model.table(), parameters.data(), arrays);
    }
    if (parts.jacobian) {
        add_jacobians(model, tape, Jacobian::Backprop, "", pool, arrays);
        if (s.gpas.enabled) add_jacobians(model, tape, Jacobian::Forward, "_forward", pool, arrays);
    }
    return result;
}

#define NORMSCOPE_INSTANTIATE(T)                                                                            \
    template Transformer<T> model_with_weights(const StackSpec&, const std::vector<StoredTensor>&,          \
                                               const std::string&, Device&);                                \
    template std::vector<T> stepped_parameters(const Recipe&, const Transformer<T>&, const std::vector<T>&, \
                                               ThreadPool&);                                                \
    template Evaluation evaluate(const Recipe&, const Transformer<T>&, const Batch&, EvaluationParts,       \
                                 ThreadPool&);
NORMSCOPE_INSTANTIATE(float)
NORMSCOPE_INSTANTIATE(double)
#undef NORMSCOPE_INSTANTIATE

}  // namespace normscope
