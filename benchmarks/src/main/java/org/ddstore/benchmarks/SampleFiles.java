// SPDX-License-Identifier: Apache-2.0
package org.ddstore.benchmarks;

import com.scalableminds.bloscjava.Blosc;
import io.jhdf.HdfFile;
import io.jhdf.WritableHdfFile;
import io.jhdf.api.WritableGroup;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import javax.imageio.ImageIO;

/**
 * Files of one format for {@link IngestBench}: how they are written, and how the format's library
 * reads one of them into Java arrays, without DDStore. The values are floats; those of images are
 * bytes.
 */
enum SampleFiles {
  /** Arrays in files that {@link FileChannel} reads, because the format needs no library. */
  NPY(".npy") {
    @Override
    void write(Path file, int rows, int floats, long seed) throws IOException {
      String header =
          "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }".formatted(rows, floats);
      ByteBuffer out = littleEndian(128 + rows * floats * Float.BYTES);
      out.put((byte) 0x93).put("NUMPY".getBytes(StandardCharsets.ISO_8859_1));
      out.put((byte) 1).put((byte) 0).putShort((short) (128 - 10));
      out.put("%-117s\n".formatted(header).getBytes(StandardCharsets.ISO_8859_1));
      Files.write(file, floats(out, rows * floats, seed).array());
    }

    @Override
    void read(Path file, Sink sink) throws IOException {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        ByteBuffer bytes = littleEndian((int) channel.size() - 128);
        channel.read(bytes, 128);
        float[] values = new float[bytes.flip().remaining() / Float.BYTES];
        bytes.asFloatBuffer().get(values);
        sink.take(values);
      }
    }
  },

  /** Matrices of AnnData that jhdf writes and reads. */
  H5AD(".h5ad") {
    @Override
    void write(Path file, int rows, int floats, long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      float[][] x = new float[rows][floats];
      String[] names = new String[rows];
      String[] genes = new String[floats];
      for (int row = 0; row < rows; row++) {
        names[row] = "cell" + row;
        for (int i = 0; i < floats; i++) {
          x[row][i] = random.nextInt();
        }
      }
      for (int i = 0; i < floats; i++) {
        genes[i] = "gene" + i;
      }
      try (WritableHdfFile out = HdfFile.write(file)) {
        out.putAttribute("encoding-type", "anndata");
        out.putAttribute("encoding-version", "0.1.0");
        out.putDataset("X", x).putAttribute("encoding-type", "array");
        frame(out.putGroup("obs"), names);
        frame(out.putGroup("var"), genes);
      }
    }

    private static void frame(WritableGroup group, String... index) {
      group.putAttribute("encoding-type", "dataframe");
      group.putAttribute("encoding-version", "0.2.0");
      group.putAttribute("_index", "_index");
      group.putDataset("_index", index).putAttribute("encoding-type", "string-array");
    }

    @Override
    void read(Path file, Sink sink) throws IOException {
      try (HdfFile in = new HdfFile(file)) {
        sink.take(in.getDatasetByPath("/X").getDataFlat());
      }
    }
  },

  /** Arrays of zarr 2 in chunks that blosc compresses. */
  ZARR(".zarr") {
    @Override
    void write(Path folder, int rows, int floats, long seed) throws IOException {
      Path array = Files.createDirectories(folder.resolve("x"));
      Files.writeString(folder.resolve(".zgroup"), "{\"zarr_format\": 2}");
      int chunk = Math.max(1, Math.min(rows, CHUNK_BYTES / (floats * Float.BYTES)));
      Files.writeString(
          array.resolve(".zarray"),
          """
          {"zarr_format": 2, "shape": [%d, %d], "chunks": [%d, %d], "dtype": "<f4", "order": "C",
           "fill_value": 0, "filters": null,
           "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}}
          """
              .formatted(rows, floats, chunk, floats));
      for (int from = 0; from < rows; from += chunk) {
        ByteBuffer raw = littleEndian(chunk * floats * Float.BYTES);
        byte[] packed =
            Blosc.compress(
                floats(raw, chunk * floats, seed + from).array(),
                Float.BYTES,
                Blosc.Compressor.LZ4,
                5,
                Blosc.Shuffle.BYTE_SHUFFLE);
        Files.write(array.resolve(from / chunk + ".0"), packed);
      }
    }

    @Override
    void read(Path folder, Sink sink) throws IOException {
      try (var chunks = Files.newDirectoryStream(folder.resolve("x"), "*.0")) {
        for (Path chunk : chunks) {
          ByteBuffer bytes =
              ByteBuffer.wrap(Blosc.decompress(Files.readAllBytes(chunk)))
                  .order(ByteOrder.LITTLE_ENDIAN);
          float[] values = new float[bytes.remaining() / Float.BYTES];
          bytes.asFloatBuffer().get(values);
          sink.take(values);
        }
      }
    }
  },

  /** PNG files of one image each, which the JDK writes and reads. */
  IMAGES("") {
    @Override
    void write(Path folder, int rows, int floats, long seed) throws IOException {
      Files.createDirectories(folder);
      SplittableRandom random = new SplittableRandom(seed);
      int side = side(floats);
      for (int row = 0; row < rows; row++) {
        BufferedImage image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
        int tint = random.nextInt();
        for (int i = 0; i < side * side; i++) {
          image.setRGB(i % side, i / side, tint + (i << 8) + random.nextInt(16));
        }
        ImageIO.write(image, "png", folder.resolve("%06d.png".formatted(row)).toFile());
      }
    }

    @Override
    void read(Path folder, Sink sink) throws IOException {
      ImageIO.setUseCache(false);
      try (var images = Files.newDirectoryStream(folder)) {
        for (Path file : images) {
          BufferedImage image = ImageIO.read(file.toFile());
          int[] pixels =
              image.getRaster().getPixels(0, 0, image.getWidth(), image.getHeight(), (int[]) null);
          sink.take(pixels);
        }
      }
    }
  };

  private static final int CHUNK_BYTES = 1 << 20;

  private final String suffix;

  SampleFiles(String suffix) {
    this.suffix = suffix;
  }

  /** Returns the name of the files and folders that {@link #write} makes. */
  String fileName(int number) {
    return "part%03d%s".formatted(number, suffix);
  }

  /** Returns the side of square images with about as many bytes as the floats have. */
  static int side(int floats) {
    return Math.max(1, (int) Math.round(Math.sqrt(floats * Float.BYTES / 3.0)));
  }

  abstract void write(Path file, int rows, int floats, long seed) throws IOException;

  /** Reads a file by the library alone and passes on the arrays. */
  abstract void read(Path file, Sink sink) throws IOException;

  @FunctionalInterface
  interface Sink {
    /** Takes a {@code float[]}, or the samples of an image as {@code int[]}. */
    void take(Object array) throws IOException;
  }

  static ByteBuffer littleEndian(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Fills the rest of a buffer with floats of 16 random bits each, which compress a little. */
  static ByteBuffer floats(ByteBuffer to, int count, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < count; i++) {
      to.putFloat(random.nextInt(1 << 16));
    }
    return to;
  }
}
