// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.ZipException;
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
import org.ddstore.formats.source.EnumOption;

/**
 * Archives of arrays of NumPy, as {@code np.savez} and {@code np.savez_compressed} write them: the
 * members are columns, a row is an index of their first axis, or a file. The checksum of each
 * member is compared once, when the file is inspected. Stored members are read in slices. A file
 * with compressed members is one partition, in which each of them is decompressed once, in row
 * order, and not held in memory.
 */
public final class NpzFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  private static final String SUFFIX = ".npy";
  private static final int ENCRYPTED = 1;
  private static final int STORED = 0;
  private static final int DEFLATED = 8;

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
    return EnumOption.of(
        options, FormatOptionKeys.LAYOUT, RowLayout.ROWS, RowLayout.ROWS, RowLayout.SAMPLES);
  }

  @Override
  public boolean readsContentToInspect(InputFile file, FormatOptions options) {
    return true;
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    Set<String> wanted = Set.copyOf(options.list(FormatOptionKeys.COLUMNS));
    try (InputFile.Content content = file.open()) {
      ZipDirectory directory =
          ZipDirectory.read(
              file,
              content,
              name -> name.endsWith(SUFFIX) && (wanted.isEmpty() || wanted.contains(column(name))));
      if (directory.members().isEmpty()) {
        throw new FormatException(
            file.path(),
            "the archive has no array%s: members are %s"
                .formatted(wanted.isEmpty() ? "" : " of " + wanted, directory.others()));
      }
      RowLayout layout = layout(options);
      List<NumpyArray> arrays = new ArrayList<>();
      List<NpyHeader> numbers = new ArrayList<>();
      for (ZipDirectory.Member member : directory.members()) {
        String place = "%s: %s".formatted(file.path(), ZipDirectory.member(member.name()));
        NpzEntry entry = entry(place, directory, member);
        NpyHeader header = header(place, entry, content);
        if (layout == RowLayout.ROWS && header.isNumber()) {
          numbers.add(header);
        } else {
          arrays.add(NumpyArray.of(file, entry, header, column(member.name()), layout));
          entry.requireIntact(place, content);
        }
      }
      if (!numbers.isEmpty()) {
        throw numbers.get(0).noRows(remedyOfNumber(arrays));
      }
      return NpyFormat.facts(file, arrays);
    }
  }

  /** Returns how to read an archive of a number and arrays. */
  private static String remedyOfNumber(List<NumpyArray> arrays) {
    String others =
        arrays.stream()
            .filter(array -> array.rows() == arrays.get(0).rows())
            .map(array -> array.column().name())
            .collect(Collectors.joining(","));
    return others.isEmpty()
        ? "use a.reshape(1)"
        : "leave it out by option \"%s\" = %s, or read each file as one row by option \"%s\" = samples"
            .formatted(FormatOptionKeys.COLUMNS, Excerpt.of(others), FormatOptionKeys.LAYOUT);
  }

  private static String column(String member) {
    return member.substring(0, member.length() - SUFFIX.length());
  }

  private static NpzEntry entry(String place, ZipDirectory directory, ZipDirectory.Member member)
      throws IOException {
    NpzEntry entry =
        new NpzEntry(
            compression(place, member),
            directory.dataOffset(member),
            member.storedBytes(),
            member.bytes(),
            member.crc());
    entry.requirePossibleSize(place);
    return entry;
  }

  private static NpyHeader header(String place, NpzEntry entry, InputFile.Content content)
      throws IOException {
    try (StreamedBytes bytes = new StreamedBytes(() -> entry.open(content))) {
      return NpyHeader.read(place, bytes::read);
    } catch (ZipException e) {
      throw new FormatException(place, "damaged: " + e.getMessage(), e);
    } catch (EOFException e) {
      throw FormatException.truncated(place, e);
    }
  }

  private static NpzEntry.Compression compression(String place, ZipDirectory.Member member) {
    boolean isPlain = (member.flags() & ENCRYPTED) == 0;
    if (isPlain && member.method() == STORED) {
      return NpzEntry.Compression.STORED;
    }
    if (isPlain && member.method() == DEFLATED) {
      return NpzEntry.Compression.DEFLATED;
    }
    throw new FormatException(
        place,
        "%s, method %d of zip, is not supported: write the file by np.savez or np.savez_compressed"
            .formatted(isPlain ? "compression" : "encryption", member.method()));
  }

  /** All files must have the same members, in any order; columns are in the order of the first. */
  @Override
  public Layout layout(List<FileFacts> files, FormatOptions options) {
    Map<String, Integer> places = places(files.get(0).columns());
    List<FileFacts> sorted = new ArrayList<>();
    for (FileFacts file : files) {
      List<SampleColumn> columns = new ArrayList<>(file.columns());
      columns.sort(Comparator.comparingInt(column -> place(places, column)));
      sorted.add(new FileFacts(file.file(), file.rows(), file.runRows(), columns, file.details()));
    }
    return Layout.ofEqual(sorted);
  }

  private static Map<String, Integer> places(List<SampleColumn> columns) {
    Map<String, Integer> places = new HashMap<>();
    columns.forEach(column -> places.put(column.name(), places.size()));
    return places;
  }

  private static int place(Map<String, Integer> places, SampleColumn column) {
    return places.getOrDefault(column.name(), places.size());
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options) {
    Map<String, Integer> places = places(layout.columns());
    List<NumpyArray> arrays = new ArrayList<>(NpyFormat.arrays(facts));
    arrays.sort(Comparator.comparingInt(array -> place(places, array.column())));
    return new ArraysReader(arrays);
  }
}
