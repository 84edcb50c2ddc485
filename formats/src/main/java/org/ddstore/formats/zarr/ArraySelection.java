// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.ReadBudget;
import org.ddstore.formats.SampleColumn;

/**
 * The arrays of a file that become columns: all arrays of a group, the selected ones, or one array.
 */
record ArraySelection(InputFile file, List<Member> members, String remedy) {
  private static final String VALUE = "value";
  private static final String NO_ARRAYS = "the group has no arrays";
  private static final int MAX_SHOWN = 20;

  private static final String REMEDY =
      "select arrays by option \"%s\"".formatted(FormatOptionKeys.ARRAYS);

  /**
   * An array.
   *
   * @param path path in the group; empty if the file is the array
   * @param name name of the column
   */
  record Member(String path, String name, ZarrArray array) {
    @Override
    public String toString() {
      return name + Arrays.toString(array.shape());
    }
  }

  /** Opens the arrays at paths in the group, or all arrays. */
  static ArraySelection open(InputFile file, List<String> wanted) throws IOException {
    if (!file.isFolder()) {
      throw new FormatException(file.path(), "a file: zarr is a folder; unpack archives");
    }
    List<Member> members = new ArrayList<>();
    if (ZarrGroup.isArray(file)) {
      if (!wanted.isEmpty() && !wanted.equals(List.of(VALUE))) {
        throw FormatException.of(
            file.path(),
            "arrays " + wanted,
            "the folder is one array, whose column is \"%s\"".formatted(VALUE));
      }
      members.add(new Member("", VALUE, ZarrArray.open(file)));
      return new ArraySelection(file, members, REMEDY);
    }
    ZarrGroup group = ZarrGroup.open(file);
    List<String> paths = wanted.isEmpty() ? group.arrays() : wanted;
    if (paths.isEmpty()) {
      throw new FormatException(file.path(), NO_ARRAYS);
    }
    for (String path : paths) {
      if (!wanted.isEmpty() && !(ZarrGroup.isInside(path) && group.hasArray(path))) {
        List<String> all = group.arrays();
        throw all.isEmpty()
            ? new FormatException(file.path(), NO_ARRAYS)
            : FormatException.of(
                file.path(), "array " + path, "missing: the arrays of the group are " + shown(all));
      }
      boolean hasOthers = !wanted.isEmpty() || paths.size() > 1;
      members.add(new Member(path, path, open(group, path, hasOthers)));
    }
    boolean isAnnData = group.attributes().path("encoding-type").asText().equals("anndata");
    return new ArraySelection(
        file, members, isAnnData ? "the group is of AnnData: read it by format anndata" : REMEDY);
  }

  /** Returns a list for a message, cut off where it is long. */
  private static String shown(List<?> list) {
    return list.size() <= MAX_SHOWN
        ? list.toString()
        : "%s and %,d others".formatted(list.subList(0, MAX_SHOWN), list.size() - MAX_SHOWN);
  }

  private static ZarrArray open(ZarrGroup group, String path, boolean hasOthers)
      throws IOException {
    try {
      return group.array(path);
    } catch (FormatException e) {
      if (!hasOthers) {
        throw e;
      }
      throw new FormatException(
          group.path(),
          "array %s: %s; to leave it out, %s".formatted(path, e.getMessage(), REMEDY),
          e);
    }
  }

  /**
   * Returns the paths of files, relative to the group, that look like chunks but are under other
   * keys than those of the metadata; not all if they are many.
   *
   * @throws FormatException if an array has such files and no chunk
   */
  List<String> misplacedChunks() throws IOException {
    List<String> paths = new ArrayList<>();
    for (Member member : members) {
      String prefix = member.path().isEmpty() ? "" : member.path() + "/";
      member.array().misplacedChunks().stream()
          .limit(ZarrArray.MAX_NAMED_FILES - paths.size())
          .forEach(path -> paths.add(prefix + path));
    }
    return paths;
  }

  private FormatException problem(String part, String problem) {
    return FormatException.of(file.path(), part, problem);
  }

  private FormatException problem(Member member, String problem) {
    return problem("array " + member, problem);
  }

  List<ZarrFile.Part> parts() {
    return members.stream().map(m -> new ZarrFile.Part(m.path(), m.array().json())).toList();
  }

  int[] chunkRows() {
    return members.stream().mapToInt(member -> member.array().chunkShape()[0]).toArray();
  }

  /** Returns the length of the first axis, which all arrays must share. */
  long rows() {
    for (Member member : members) {
      if (member.array().shape().length == 0) {
        throw problem(
            member,
            "is one value and has no axis for rows: select other arrays by option \"%s\""
                .formatted(FormatOptionKeys.ARRAYS));
      }
    }
    if (members.stream().mapToLong(m -> m.array().shape()[0]).distinct().count() > 1) {
      throw problem("shapes", "the first axes differ in %s: %s".formatted(shown(members), remedy));
    }
    return members.get(0).array().shape()[0];
  }

  /** Returns columns whose values are slices of the arrays at an index of the first axis. */
  List<SampleColumn> rowColumns() {
    List<SampleColumn> columns = new ArrayList<>();
    for (Member member : members) {
      long[] shape = member.array().shape();
      columns.add(column(member, Arrays.copyOfRange(shape, 1, shape.length)));
    }
    return columns;
  }

  /** Returns the lengths of the axes of a box, which all arrays must share. */
  long[] volume(int... box) {
    long[] volume = null;
    for (Member member : members) {
      long[] shape = member.array().shape();
      if (shape.length < box.length) {
        throw problem(
            FormatOptionKeys.BOX,
            "%s has %d dimensions, %s has fewer: %s"
                .formatted(Arrays.toString(box), box.length, member, REMEDY));
      }
      long[] leading = Arrays.copyOf(shape, box.length);
      if (volume != null && !Arrays.equals(volume, leading)) {
        throw problem(
            "shapes",
            "the first %d axes differ in %s: %s".formatted(box.length, shown(members), REMEDY));
      }
      volume = leading;
      for (int d = 0; d < box.length; d++) {
        if (box[d] > volume[d]) {
          throw problem(
              FormatOptionKeys.BOX,
              "length %d of dimension %d outside [1, %d] of %s"
                  .formatted(box[d], d, volume[d], member));
        }
      }
    }
    return volume;
  }

  /** Returns columns of boxes, and one of their origins. */
  List<SampleColumn> boxColumns(int... box) {
    List<SampleColumn> columns = new ArrayList<>();
    for (Member member : members) {
      long[] shape = member.array().shape();
      for (int d = 0; d < box.length; d++) {
        shape[d] = box[d];
      }
      if (member.name().equals(ZarrOptions.BOX_START)) {
        throw problem(member.name(), "the name is that of the column of origins: " + REMEDY);
      }
      columns.add(column(member, shape));
    }
    columns.add(SampleColumn.fixed(ZarrOptions.BOX_START, ElementType.INT64, box.length));
    return columns;
  }

  private SampleColumn column(Member member, long... shape) {
    ElementType type = member.array().elementType();
    if (type == ElementType.TEXT && shape.length > 0) {
      throw problem(member, "texts are supported as one text per row only: " + REMEDY);
    }
    int[] lengths = new int[shape.length];
    for (int d = 0; d < lengths.length; d++) {
      if (shape[d] > Integer.MAX_VALUE) {
        throw problem(
            member,
            "axis %d of a row has %,d elements, the limit is %,d: read boxes by option \"%s\""
                .formatted(
                    d + member.array().shape().length - lengths.length,
                    shape[d],
                    Integer.MAX_VALUE,
                    FormatOptionKeys.BOX));
      }
      lengths[d] = (int) shape[d];
    }
    try {
      SampleColumn column = SampleColumn.fixed(member.name(), type, lengths);
      if (column.estimatedBytes() > ReadBudget.MAX_ARRAY_LENGTH) {
        throw new IllegalArgumentException(
            "one value of %s has %,d bytes, the limit is %,d: read boxes by option \"%s\""
                .formatted(
                    column,
                    column.estimatedBytes(),
                    ReadBudget.MAX_ARRAY_LENGTH,
                    FormatOptionKeys.BOX));
      }
      column.sqlField(); // checks the limits of fields in a store
      return column;
    } catch (IllegalArgumentException e) {
      throw new FormatException(file.path(), "array %s: %s".formatted(member, e.getMessage()), e);
    }
  }

  @Override
  public String toString() {
    return members.stream().map(Member::toString).collect(Collectors.joining(", "));
  }
}
