// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.hdf5.Hdf5Dataset;
import org.ddstore.formats.hdf5.Hdf5File;
import org.ddstore.formats.hdf5.LinkFolder;

/** An HDF5 file. */
record HdfTree(Hdf5File hdf) implements ArrayTree {
  /** Opens a file; files of external links may be in {@code links}. */
  static HdfTree open(InputFile input, LinkFolder links) throws IOException {
    return new HdfTree(Hdf5File.open(input, links));
  }

  @Override
  public String file() {
    return hdf.path();
  }

  @Override
  public boolean isGroup(String path) throws IOException {
    return hdf.isGroup(requireInside(path));
  }

  @Override
  public boolean isArray(String path) throws IOException {
    return hdf.isDataset(requireInside(path));
  }

  @Override
  public List<String> children(String path) throws IOException {
    return hdf.children(requireInside(path));
  }

  @Override
  public boolean hasAttribute(String path, String attribute) throws IOException {
    return hdf.hasAttribute(requireInside(path), attribute);
  }

  @Override
  public Optional<List<String>> texts(String path, String attribute) throws IOException {
    return hdf.texts(requireInside(path), attribute);
  }

  @Override
  public Optional<long[]> integers(String path, String attribute) throws IOException {
    return hdf.integers(requireInside(path), attribute);
  }

  @Override
  public StoredArray array(String path) throws IOException {
    return new HdfArray(file(), path, hdf.dataset(requireInside(path)));
  }

  @Override
  public void close() throws IOException {
    hdf.close();
  }

  private record HdfArray(String file, String path, Hdf5Dataset dataset) implements StoredArray {
    @Override
    public ElementType type() {
      return dataset.type();
    }

    @Override
    public long[] shape() {
      return dataset.shape();
    }

    @Override
    public int runRows() {
      return dataset.runRows();
    }

    @Override
    public ByteBuffer bytes(long from, int count) throws IOException {
      return dataset.bytes(from, count, null);
    }

    @Override
    public ByteBuffer bytes(long from, int count, ByteBuffer last) throws IOException {
      return dataset.bytes(from, count, last);
    }

    @Override
    public String[] texts(long from, int count) throws IOException {
      return dataset.texts(from, count);
    }
  }
}
