// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.ingest;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.ddstore.types.Field;
import org.ddstore.types.Schema;

/** An encoder of flat or nested arrays of numbers into a fixed or ragged field, row-major. */
final class ArrayEncoder extends Column.Encoder {
  private final ElementWriter writer;
  private final ArrayColumn.Elements elements;
  private final Repairs repairs;
  private final boolean guessed;
  private final Field field;

  /** Offset in the record of the data of a fixed field, or of the length of a ragged one. */
  private final int place;

  /** Required length of each nesting level; the outermost of a ragged field can have any. */
  private final int[] lengths;

  /** Size of one element of each level in bytes. */
  private final int[] steps;

  /**
   * @param guessed whether a fixed length was guessed, so that another length is not a data error
   */
  ArrayEncoder(
      ColumnPath path,
      Schema schema,
      ArrayColumn.Elements elements,
      Repairs repairs,
      boolean guessed) {
    super(path);
    int index = schema.indexOf(path.name());
    this.field = schema.field(index);
    this.place = field.isRagged() ? schema.lengthOffset(index) : schema.fixedOffset(index);
    this.elements = elements;
    this.repairs = repairs;
    this.guessed = guessed;
    this.writer =
        new ElementWriter(
            this, elements.numbers(), field.dtype(), elements.mayBeNull(), repairs.fill());
    this.lengths = levels();
    this.steps = new int[lengths.length];
    int step = field.dtype().bytes();
    for (int level = lengths.length - 1; level >= 0; level--) {
      steps[level] = step;
      step *= lengths[level];
    }
  }

  private int[] levels() {
    int[] shape = field.shape();
    if (elements.depth() == 1) {
      return new int[] {field.elements()};
    }
    if (!field.isRagged()) {
      return shape;
    }
    int[] levels = new int[shape.length + 1];
    System.arraycopy(shape, 0, levels, 1, shape.length);
    levels[0] = 1;
    return levels;
  }

  @Override
  void encodeValue(SpecializedGetters parent, int at, RecordBuffer record) {
    ArrayData array = parent.getArray(at);
    if (!field.isRagged()) {
      write(array, 0, record, place);
      return;
    }
    int count = array.numElements();
    int inner = elements.depth() == 1 ? field.elements() : 1;
    if (count % inner != 0) {
      throw problem(record, "%,d elements do not form whole rows of %s".formatted(count, field));
    }
    int start = record.append(name(), (long) (count / inner) * field.bytes());
    record.view().putInt(place, count / inner);
    if (lengths.length == 1) {
      writer.write(array, count, record, start);
    } else {
      for (int i = 0; i < count; i++) {
        write(inner(array, i, record), 1, record, start + i * steps[0]);
      }
    }
  }

  private void write(ArrayData array, int level, RecordBuffer record, int start) {
    int found = array.numElements();
    int wanted = lengths[level];
    int count = Math.min(found, wanted);
    if (found != wanted) {
      checkLength(found, level, record);
    }
    if (level == lengths.length - 1) {
      writer.write(array, count, record, start);
    } else {
      for (int i = 0; i < count; i++) {
        write(inner(array, i, record), level + 1, record, start + i * steps[level]);
      }
    }
    if (count < wanted) {
      int missingBytes = (wanted - count) * steps[level];
      writer.fill(
          record,
          start + count * steps[level],
          missingBytes / field.dtype().bytes(),
          repairs.pad());
    }
  }

  private ArrayData inner(ArrayData array, int i, RecordBuffer record) {
    if (array.isNullAt(i)) {
      throw problem(record, "null in place of an inner array");
    }
    return array.getArray(i);
  }

  private void checkLength(int found, int level, RecordBuffer record) {
    boolean isShort = found < lengths[level];
    if (isShort ? repairs.pad() != null : repairs.truncate()) {
      return;
    }
    if (guessed) {
      throw new NotUniformException(
          name(),
          record.row(),
          ArrayForm.RAGGED,
          "%,d elements where other rows have %,d".formatted(found, lengths[level]));
    }
    String text =
        "length %,d does not fit %s (%,d %s)"
            .formatted(
                found,
                field,
                lengths[level],
                lengths.length == 1 ? "elements" : "in dimension " + level);
    throw problem(
        record,
        text
            + "; "
            + lengthRemedy(record.wording(), level, isShort)
            + ragged(record.wording(), level));
  }

  private String lengthRemedy(Wording wording, int level, boolean isShort) {
    boolean isFlat = lengths.length == 1;
    return isShort
        ? wording.remedyOfShort(columnPath(), lengths[level], isFlat)
        : wording.remedyOfLong(columnPath(), lengths[level], isFlat);
  }

  /** Returns the advice to declare the field ragged, if only the outermost dimension varies. */
  private String ragged(Wording wording, int level) {
    int[] shape = field.shape();
    return level > 0 || field.isRagged() || shape.length == 0 || wording == Wording.QUERY
        ? ""
        : ", or declare it ragged: "
            + wording.raggedDeclaration(
                name(), field.dtype(), Arrays.copyOfRange(shape, 1, shape.length));
  }

  @Override
  void encodeNull(RecordBuffer record) {
    if (repairs.fill() == null) {
      throw nullProblem(record);
    }
    if (guessed && !field.isRagged()) {
      throw new NotUniformException(name(), record.row(), ArrayForm.RAGGED, "null");
    }
    if (field.isRagged()) {
      record.view().putInt(place, 0);
    } else {
      writer.fill(record, place, field.elements(), repairs.fill());
    }
  }

  @Override
  public String toString() {
    return "ArrayEncoder[%s, lengths %s]".formatted(field, Arrays.toString(lengths));
  }
}
