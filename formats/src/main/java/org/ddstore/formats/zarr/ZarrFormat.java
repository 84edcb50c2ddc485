// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.ddstore.formats.ElementType;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatException;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.FormatOptions;
import org.ddstore.formats.InputFile;
import org.ddstore.formats.Layout;
import org.ddstore.formats.SampleColumn;
import org.ddstore.formats.SampleFormat;
import org.ddstore.formats.SampleReader;
import org.ddstore.formats.Values;

/**
 * Groups and arrays of zarr. A row is an index of the first axis, which all arrays of a group
 * share, or a box of a volume.
 */
public final class ZarrFormat implements SampleFormat {
  private static final long serialVersionUID = 1L;

  @Override
  public String name() {
    return "zarr";
  }

  @Override
  public String description() {
    return "groups and arrays of zarr, versions 2 and 3; rows of the first axis, or boxes";
  }

  @Override
  public List<String> suffixes() {
    return List.of(".zarr");
  }

  @Override
  public Set<String> options() {
    return ZarrOptions.KEYS;
  }

  @Override
  public void check(FormatOptions options) {
    ZarrOptions.of(options);
  }

  @Override
  public boolean isUnit(InputFile folder, FormatOptions options) throws IOException {
    return ZarrGroup.isNode(folder);
  }

  @Override
  public FileFacts inspect(InputFile file, FormatOptions options) throws IOException {
    ZarrOptions wanted = ZarrOptions.of(options);
    ArraySelection arrays = ArraySelection.open(file, wanted.arrays());
    if (wanted.hasBox()) {
      return inspectBoxes(file, arrays, wanted);
    }
    long rows = arrays.rows();
    List<SampleColumn> columns = arrays.rowColumns();
    int run = RunLength.ofRows(columns, rows, arrays.chunkRows());
    return new FileFacts(
        file, rows, run, columns, new ZarrFile(arrays.parts(), null, arrays.misplacedChunks()));
  }

  private static FileFacts inspectBoxes(InputFile file, ArraySelection arrays, ZarrOptions wanted)
      throws IOException {
    long[] room = arrays.volume(wanted.box());
    for (int d = 0; d < room.length; d++) {
      room[d] -= wanted.box()[d];
    }
    BoxPlan boxes = plan(file, room, wanted);
    List<SampleColumn> columns = arrays.boxColumns(wanted.box());
    return new FileFacts(
        file,
        boxes.boxes(),
        RunLength.ofBoxes(columns, boxes),
        columns,
        new ZarrFile(arrays.parts(), boxes, arrays.misplacedChunks()));
  }

  private static BoxPlan plan(InputFile file, long[] room, ZarrOptions wanted) {
    if (wanted.crops() == 0) {
      return BoxPlan.Tiles.of(room, wanted.stride(), wanted.shift());
    }
    for (long length : room) {
      if (length >= Integer.MAX_VALUE) {
        throw FormatException.of(
            file.path(), "shapes", "random crops need axes of at most 2^31 - 1 elements");
      }
    }
    return new BoxPlan.Crops(room, wanted.crops(), wanted.seed(), wanted.epoch(), 0);
  }

  /**
   * Returns the columns; the details of random crops are the positions of the files in the epoch.
   */
  @Override
  public Layout layout(List<FileFacts> files, FormatOptions options) {
    Layout layout = Layout.ofEqual(files);
    if (ZarrOptions.of(options).crops() == 0) {
      return layout;
    }
    HashMap<String, Long> positions = new HashMap<>();
    long position = 0;
    for (FileFacts file : files) {
      positions.put(file.file().path(), position);
      position += file.rows();
      if (position < 0) {
        throw new IllegalArgumentException(
            "option \"%s\" is %d for each of %,d files: together they must be below 2^63"
                .formatted(FormatOptionKeys.CROPS, file.rows(), files.size()));
      }
    }
    return new Layout(layout.columns(), positions);
  }

  @Override
  public List<String> leftOut(FileFacts facts) {
    return ((ZarrFile) facts.details()).leftOut();
  }

  @Override
  public SampleReader open(FileFacts facts, Layout layout, FormatOptions options) {
    ZarrFile file = (ZarrFile) facts.details();
    OpenArrays arrays = new OpenArrays(facts.file(), file.parts());
    if (file.boxes() == null) {
      return new RowReader(arrays, layout.columns());
    }
    BoxPlan boxes = file.boxes();
    if (boxes instanceof BoxPlan.Crops crops) {
      boxes = crops.startingAt((Long) ((Map<?, ?>) layout.details()).get(facts.file().path()));
    }
    int[] box = ZarrOptions.of(options).box();
    return new BoxReader(arrays, layout.columns(), boxes.origins(), box.length);
  }

  /** A reader of rows that are indices of the first axis. */
  private record RowReader(OpenArrays arrays, List<SampleColumn> columns) implements SampleReader {
    @Override
    public Values read(int ordinal, long from, int count) throws IOException {
      SampleColumn column = columns.get(ordinal);
      ZarrArray array = arrays.get(ordinal);
      int[] lengths = new int[column.shape().length + 1];
      lengths[0] = count;
      System.arraycopy(column.shape(), 0, lengths, 1, column.shape().length);
      long[] start = new long[lengths.length];
      start[0] = from;
      arrays.memory().startBatch(from);
      if (column.type() == ElementType.TEXT) {
        return Values.texts(array.readTextsInBatch(start, lengths));
      }
      return column.values(array.readForward(start, lengths), count);
    }

    @Override
    public void close() throws IOException {
      arrays.close();
    }
  }
}
