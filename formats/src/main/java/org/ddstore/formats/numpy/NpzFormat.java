// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.zip.ZipException;
import org.apache.commons.compress.archivers.ArchiveException;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;
import org.ddstore.formats.ContentStream;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.StreamedBytes;
import org.ddstore.formats.source.ContentChannel;

/**
 * Archives of arrays of NumPy, as {@code np.savez} and {@code np.savez_compressed} write them: the
 * members are columns, a row is an index of their first axis, or a file. Stored members are read in
 * slices. A file with compressed members is one partition, in which each of them is decompressed
 * once, in row order, and not held in memory.
 */
public final class NpzFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  private static final String SUFFIX = ".npy";

  @Override
  public String name() {
    return "npz";
  }

  @Override
  public String description() {
    return "archives of arrays of NumPy, compressed or not";
  }

  @Override
  public List<String> suffixes() {
    return List.of(".npz");
  }

  @Override
  public Set<String> options() {
    return Set.of(FormatOptionKeys.LAYOUT);
  }

  @Override
  public void check(FormatOptions options) {
    layout(options);
  }

  private static RowLayout layout(FormatOptions options) {
    return RowLayout.of(options, "rows", "samples");
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    InputFile.Content content = file.open();
    try (ZipFile archive = archive(new ContentChannel(content, file.length()))) {
      List<NumpyArray> arrays = arrays(file, archive, content, options);
      if (arrays.isEmpty()) {
        throw new FormatException(
            file.path(), "the archive has no array: members are " + names(archive));
      }
      return NpyFormat.facts(file, arrays);
    } catch (IOException | IllegalArgumentException e) {
      throw malformed(file, e);
    } finally {
      content.close();
    }
  }

  /** Returns the error of an archive; throws it if it is one of the file system. */
  private static FormatException malformed(InputFile file, Exception failure) throws IOException {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof ZipException
          || at instanceof EOFException
          || at instanceof ArchiveException
          || at instanceof IllegalArgumentException) {
        return new FormatException(
            file.path(), "truncated, or not an archive of NumPy: " + at.getMessage(), failure);
      }
    }
    throw (IOException) failure;
  }

  /** Opens an archive; by the constructor that the library has in every supported Spark. */
  @SuppressWarnings("deprecation")
  private static ZipFile archive(ContentChannel channel) throws IOException {
    return new ZipFile(channel);
  }

  private static List<NumpyArray> arrays(
      InputFile file, ZipFile archive, InputFile.Content content, FormatOptions options)
      throws IOException {
    List<String> wanted = options.list(FormatOptionKeys.COLUMNS); // other members are not opened
    List<NumpyArray> arrays = new ArrayList<>();
    for (ZipArchiveEntry member : Collections.list(archive.getEntries())) {
      String name = member.getName();
      if (!name.endsWith(SUFFIX)) {
        continue;
      }
      name = name.substring(0, name.length() - SUFFIX.length());
      if (wanted.isEmpty() || wanted.contains(name)) {
        arrays.add(array(file, name, member, content, layout(options)));
      }
    }
    return arrays;
  }

  private static NumpyArray array(
      InputFile file,
      String name,
      ZipArchiveEntry member,
      InputFile.Content content,
      RowLayout layout)
      throws IOException {
    String place = "%s: member %s".formatted(file.path(), name);
    NpzEntry entry =
        new NpzEntry(
            compression(place, member),
            member.getDataOffset(),
            member.getCompressedSize(),
            member.getSize(),
            member.getCrc());
    if (entry.offset() < 0 || entry.offset() + entry.storedBytes() > file.length()) {
      throw new FormatException(place, "truncated: the member is not inside the file");
    }
    NpyHeader header;
    if (entry.isDeflated()) {
      try (StreamedBytes inflated =
          new StreamedBytes(
              () -> entry.inflate(new ContentStream(content, entry.offset(), entry.storedBytes())),
              entry.bytes())) {
        header = NpyHeader.read(place, inflated::read);
      }
    } else {
      header = NpyHeader.read(place, (at, to) -> content.read(entry.offset() + at, to));
    }
    return NumpyArray.of(file, entry, header, name, layout);
  }

  private static NpzEntry.Compression compression(String place, ZipArchiveEntry member) {
    boolean isPlain = !member.getGeneralPurposeBit().usesEncryption();
    if (isPlain && member.getMethod() == ZipArchiveEntry.STORED) {
      return NpzEntry.Compression.STORED;
    }
    if (isPlain && member.getMethod() == ZipArchiveEntry.DEFLATED) {
      return NpzEntry.Compression.DEFLATED;
    }
    throw new FormatException(
        place,
        "%s, method %d of zip, is not supported: write the file by np.savez or np.savez_compressed"
            .formatted(isPlain ? "compression" : "encryption", member.getMethod()));
  }

  private static List<String> names(ZipFile archive) {
    return Collections.list(archive.getEntries()).stream().map(ZipArchiveEntry::getName).toList();
  }

  /** All files must have the same members, in any order; columns are in the order of the first. */
  @Override
  public Layout layout(List<FileFacts> files, FormatOptions options) {
    List<SampleColumn> first = files.get(0).columns();
    List<FileFacts> sorted = new ArrayList<>();
    for (FileFacts file : files) {
      List<SampleColumn> columns = new ArrayList<>(file.columns());
      columns.sort(Comparator.comparingInt(column -> place(first, column)));
      sorted.add(new FileFacts(file.file(), file.rows(), file.runRows(), columns, file.details()));
    }
    return Layout.ofEqual(sorted);
  }

  private static int place(List<SampleColumn> columns, SampleColumn wanted) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(wanted.name())) {
        return i;
      }
    }
    return columns.size();
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options) {
    List<NumpyArray> arrays = new ArrayList<>(NpyFormat.arrays(facts));
    arrays.sort(Comparator.comparingInt(array -> place(layout.columns(), array.column())));
    return new ArraysReader(arrays);
  }
}
