// Writes GGUF files (version 3, little-endian) of 32-bit weights: docs/gguf.md of ggml-org/ggml.
import { closeSync, openSync, writeSync } from 'node:fs';

const ALIGNMENT = 32;
const VALUE_TYPES = { u32: 4, i32: 5, f32: 6, string: 8, array: 9 };
const TENSOR_TYPE_F32 = 0;
const CHUNK = 1 << 20; // elements that are filled and written at once

const aligned = (size) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;
const elementsOf = ({ shape }) => shape.reduce((a, b) => a * b);

/** The header grows value by value. */
class Header {
  parts = [];
  size = 0;

  add(buffer) {
    this.parts.push(buffer);
    this.size += buffer.length;
    return this;
  }

  u32(value) {
    const buffer = Buffer.alloc(4);
    buffer.writeUInt32LE(value);
    return this.add(buffer);
  }

  u64(value) {
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64LE(BigInt(value));
    return this.add(buffer);
  }

  string(text) {
    return this.u64(Buffer.byteLength(text)).add(Buffer.from(text));
  }

  /** [type, values] for an array. */
  value(type, value) {
    if (type === 'string') return this.string(value);
    if (type === 'u32') return this.u32(value);
    if (type === 'array') {
      const [of, values] = value;
      this.u32(VALUE_TYPES[of]).u64(values.length);
      for (const each of values) this.value(of, each);
      return this;
    }
    const buffer = Buffer.alloc(4);
    if (type === 'f32') buffer.writeFloatLE(value);
    else buffer.writeInt32LE(value);
    return this.add(buffer);
  }
}

function headerOf(metadata, tensors) {
  const header = new Header().add(Buffer.from('GGUF')).u32(3).u64(tensors.length).u64(metadata.length);
  for (const [key, type, value] of metadata) header.string(key).u32(VALUE_TYPES[type]).value(type, value);
  let offset = 0; // from the end of the padded header
  for (const tensor of tensors) {
    header.string(tensor.name).u32(tensor.shape.length);
    for (const extent of tensor.shape) header.u64(extent);
    header.u32(TENSOR_TYPE_F32).u64(offset);
    offset += aligned(4 * elementsOf(tensor));
  }
  return header.add(Buffer.alloc(aligned(header.size) - header.size));
}

/**
 * Writes `path`. metadata: [key, type, value] each. tensors: {name, shape (fastest axis first), fill}, where fill(chunk, start) sets a
 * Float32Array of values that start at element `start`; a chunk holds whole rows.
 */
export function writeGguf(path, metadata, tensors) {
  const file = openSync(path, 'w');
  for (const part of headerOf(metadata, tensors).parts) writeSync(file, part);
  for (const tensor of tensors) {
    const elements = elementsOf(tensor);
    const step = Math.ceil(CHUNK / tensor.shape[0]) * tensor.shape[0];
    for (let start = 0; start < elements; start += step) {
      const chunk = new Float32Array(Math.min(step, elements - start));
      tensor.fill(chunk, start);
      writeSync(file, Buffer.from(chunk.buffer));
    }
    writeSync(file, Buffer.alloc(aligned(4 * elements) - 4 * elements));
  }
  closeSync(file);
}
