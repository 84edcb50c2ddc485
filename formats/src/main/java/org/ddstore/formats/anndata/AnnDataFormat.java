// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.types.Internal;

/** Files of AnnData; a row is an observation. */
@Internal
public class AnnDataFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  @Override
  public String name() {
    return "anndata";
  }

  @Override
  public String description() {
    return "AnnData: observations with annotations and a matrix of genes";
  }

  @Override
  public List<String> suffixes() {
    return List.of(".h5ad");
  }

  @Override
  public Set<String> options() {
    return AnnDataOptions.KEYS;
  }

  @Override
  public void check(FormatOptions options) {
    AnnDataOptions.of(options);
  }

  /** Returns whether a folder is a group of zarr that holds AnnData. */
  @Override
  public boolean isUnit(InputFile folder, FormatOptions options) throws IOException {
    return ZarrTree.isAnnData(folder, AnnDataOptions.of(options).links());
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    try (AnnDataFile open = AnnDataFile.open(file, AnnDataOptions.of(options))) {
      return open.facts();
    } catch (ArithmeticException e) { // an integer that is a name, and above the maximum of BIGINT
      throw new FormatException(file.path(), "names in var or obs: " + e.getMessage(), e);
    }
  }

  @Override
  public List<String> leftOut(FileFacts facts) {
    return ((FileParts) facts.details()).leftOut();
  }

  @Override
  public Layout layout(List<FileFacts> files, FormatOptions options) {
    try {
      return new Collection(files, AnnDataOptions.of(options)).layout();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the genes of the files", e);
    }
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options)
      throws IOException {
    AnnDataFile file = AnnDataFile.open(facts.file(), AnnDataOptions.of(options));
    return new AnnDataReader(file, (FileParts) facts.details(), layout);
  }
}
