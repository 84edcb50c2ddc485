// SPDX-License-Identifier: Apache-2.0
package org.ddstore.loader;

import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.DoublePredicate;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.LongPredicate;
import org.ddstore.Batch;
import org.ddstore.Variable;
import org.ddstore.collective.Communicator;
import org.ddstore.sampling.RowSubset;

/**
 * The columns of a store in the form that samplers take: weights, costs, lengths and classes with
 * one element per row, and subsets of rows. Every rank reads the column of its own rows and sends
 * it to the others, so all ranks get the same result, which does not depend on their number.
 *
 * <p>Every method is collective and blocks until all ranks have called it. An error on one rank (a
 * field that does not exist or has another type, an illegal value) ends the call on all ranks, and
 * the ranks can go on: the rank with the error throws it, the others {@link
 * org.ddstore.types.RankFailedException}. The message names field, row and value. The result is a
 * new array that takes 4 or 8 bytes per row on each rank. Used by one thread at a time.
 */
public final class Columns {
  private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

  private final Variable variable;
  private final Communicator communicator;

  private Columns(Variable variable, Communicator communicator) {
    this.variable = variable;
    this.communicator = communicator;
  }

  /**
   * Gives access to the columns of a variable. Local. The caller keeps the communicator, which the
   * methods use.
   *
   * @param variable variable to read; its rows must not change during a call
   * @param communicator communicator of the ranks that call the methods, usually those of the store
   * @return the columns
   */
  public static Columns of(Variable variable, Communicator communicator) {
    Objects.requireNonNull(variable, "variable is null");
    Objects.requireNonNull(communicator, "communicator is null");
    return new Columns(variable, communicator);
  }

  /**
   * {@return the value of each row, for {@link org.ddstore.sampling.Samplers#weighted}} Collective.
   *
   * @param field field of one number per row, of any type
   * @throws IllegalArgumentException if the field is of another form, a value is negative, not
   *     finite or not a number, or there are more rows than an array can have
   */
  public double[] weights(String field) {
    String call = call("weights", field);
    ColumnParts parts = parts();
    double[] weights = new double[length(call)];
    parts.exchange(
        call,
        Double.BYTES,
        (first, end, values) -> {
          ColumnReader reader = reader(call, field, ColumnForm.NUMBER);
          reader.read(
              first,
              end,
              (batch, row) -> {
                ColumnReader.DoubleColumn column = reader.numbers(batch);
                for (int i = 0; i < batch.rows(); i++) {
                  double weight = column.at(i);
                  if (!(weight >= 0 && weight < Double.POSITIVE_INFINITY)) {
                    throw illegal(call, row + i, weight, "0 or more, and finite");
                  }
                  values.putDouble(weight);
                }
              });
        },
        (first, values) -> {
          for (int row = (int) first; values.hasRemaining(); row++) {
            weights[row] = values.getDouble();
          }
        });
    return weights;
  }

  /**
   * {@return the value of each row, for {@link org.ddstore.sampling.Samplers#costAware}}
   * Collective.
   *
   * @param field field of one integer per row
   * @throws IllegalArgumentException if the field is of another form, a value is negative, or there
   *     are more rows than an array can have
   */
  public long[] costs(String field) {
    String call = call("costs", field);
    return longs(call, field, ColumnForm.INTEGER, ColumnReader::integers);
  }

  /**
   * {@return the length of a ragged field in each row, in elements of its inner shape, bytes for
   * text: for example the costs of {@link org.ddstore.sampling.Samplers#costAware}} Collective.
   *
   * @param field ragged field
   * @throws IllegalArgumentException if the field is not ragged, or there are more rows than an
   *     array can have
   */
  public long[] lengths(String field) {
    String call = call("lengths", field);
    return longs(call, field, ColumnForm.RAGGED, ColumnReader::lengths);
  }

  private long[] longs(
      String call,
      String field,
      ColumnForm form,
      BiFunction<ColumnReader, Batch, ColumnReader.LongColumn> column) {
    ColumnParts parts = parts();
    long[] numbers = new long[length(call)];
    parts.exchange(
        call,
        Long.BYTES,
        (first, end, values) -> {
          ColumnReader reader = reader(call, field, form);
          reader.read(
              first,
              end,
              (batch, row) -> {
                ColumnReader.LongColumn longs = column.apply(reader, batch);
                for (int i = 0; i < batch.rows(); i++) {
                  long number = longs.at(i);
                  if (number < 0) {
                    throw illegal(call, row + i, number, "0 or more");
                  }
                  values.putLong(number);
                }
              });
        },
        (first, values) -> {
          for (int row = (int) first; values.hasRemaining(); row++) {
            numbers[row] = values.getLong();
          }
        });
    return numbers;
  }

  /**
   * {@return the class of each row: equal values are one class, and classes are numbered in
   * ascending order of the values that occur} Collective.
   *
   * @param field field of one integer, one truth value or one text per row
   * @throws IllegalArgumentException if the field is of another form, there are more than 65,536
   *     classes, or more rows than an array can have
   */
  public RowClasses classes(String field) {
    String call = call("classes", field);
    if (ColumnForm.TEXT.isOf(variable.schema(), field)) {
      return classes(call, field, ColumnForm.TEXT, ColumnReader::texts, text -> text);
    }
    return classes(
        call,
        field,
        ColumnForm.INTEGER,
        (reader, batch) -> reader.integers(batch)::at,
        Long::valueOf);
  }

  private <V extends Comparable<V>> RowClasses classes(
      String call,
      String field,
      ColumnForm form,
      BiFunction<ColumnReader, Batch, LongFunction<V>> column,
      Function<String, V> parser) {
    ColumnParts parts = parts();
    int[] labels = new int[length(call)];
    ClassColumn<V> own = new ClassColumn<>((int) (parts.end() - parts.first()), call);
    byte[][] ranks =
        communicator.exchange(
            call,
            () -> {
              ColumnReader reader = reader(call, field, form);
              reader.read(
                  parts.first(),
                  parts.end(),
                  (batch, row) -> {
                    LongFunction<V> values = column.apply(reader, batch);
                    for (int i = 0; i < batch.rows(); i++) {
                      own.add(values.apply(i));
                    }
                  });
              return own.toBytes();
            });
    List<V> values = own.agree(ranks, parser);
    parts.exchange(
        call,
        Integer.BYTES,
        (first, end, buffer) -> {
          for (long row = first; row < end; row++) {
            buffer.putInt(own.label((int) (row - parts.first())));
          }
        },
        (first, buffer) -> {
          for (int row = (int) first; buffer.hasRemaining(); row++) {
            labels[row] = buffer.getInt();
          }
        });
    return new RowClasses(values.stream().map(Object::toString).toList(), labels);
  }

  /**
   * {@return the rows whose value is true, or not 0} Collective.
   *
   * @param field field of one truth value or one integer per row
   * @throws IllegalArgumentException if the field is of another form
   */
  public RowSubset where(String field) {
    return whereInteger(call("where", field), field, value -> value != 0);
  }

  /**
   * {@return the rows that have a value} Collective.
   *
   * @param field field of one integer or one truth value per row
   * @param value number that the rows have, 1 for true
   * @throws IllegalArgumentException if the field is of another form
   */
  public RowSubset where(String field, long value) {
    return whereInteger(callWhere(field, value), field, number -> number == value);
  }

  private RowSubset whereInteger(String call, String field, LongPredicate condition) {
    return subset(
        call,
        field,
        ColumnForm.INTEGER,
        (reader, batch) -> {
          ColumnReader.LongColumn values = reader.integers(batch);
          return i -> condition.test(values.at(i));
        });
  }

  /**
   * {@return the rows that have a text} Collective.
   *
   * @param field field of text
   * @param value text that the rows have
   * @throws IllegalArgumentException if the field is of another form
   */
  public RowSubset where(String field, String value) {
    Objects.requireNonNull(value, "value is null");
    return subset(
        callWhere(field, "\"" + value + "\""),
        field,
        ColumnForm.TEXT,
        (reader, batch) -> {
          LongFunction<String> values = reader.texts(batch);
          return i -> values.apply(i).equals(value);
        });
  }

  /**
   * {@return the rows whose value meets a condition} Collective. Integers above 2^53 are rounded.
   *
   * @param field field of one number per row, of any type
   * @param condition condition of a value, which can be NaN; the same on all ranks. An exception of
   *     it ends the call on all ranks
   * @throws IllegalArgumentException if the field is of another form
   */
  public RowSubset where(String field, DoublePredicate condition) {
    Objects.requireNonNull(condition, "condition is null");
    return subset(
        call("where", field),
        field,
        ColumnForm.NUMBER,
        (reader, batch) -> {
          ColumnReader.DoubleColumn values = reader.numbers(batch);
          return i -> condition.test(values.at(i));
        });
  }

  /**
   * {@return the rows of the store that {@link #where(String)} does not return} Collective.
   *
   * @param field field of one truth value or one integer per row
   */
  public RowSubset whereNot(String field) {
    return where(field).complement(variable.rows());
  }

  /**
   * {@return the rows of the store that {@link #where(String, long)} does not return} Collective.
   *
   * @param field field of one integer or one truth value per row
   * @param value number that the rows do not have
   */
  public RowSubset whereNot(String field, long value) {
    return where(field, value).complement(variable.rows());
  }

  /**
   * {@return the rows of the store that {@link #where(String, String)} does not return} Collective.
   *
   * @param field field of text
   * @param value text that the rows do not have
   */
  public RowSubset whereNot(String field, String value) {
    return where(field, value).complement(variable.rows());
  }

  private RowSubset subset(
      String call,
      String field,
      ColumnForm form,
      BiFunction<ColumnReader, Batch, LongPredicate> condition) {
    ColumnParts parts = parts();
    byte[][] masks =
        communicator.exchange(
            call,
            () -> {
              ColumnReader reader = reader(call, field, form);
              long rows = parts.end() - parts.first();
              byte[] mask = new byte[Math.toIntExact((rows + Byte.SIZE - 1) / Byte.SIZE)];
              reader.read(
                  parts.first(),
                  parts.end(),
                  (batch, row) -> {
                    LongPredicate accepts = condition.apply(reader, batch);
                    for (int i = 0; i < batch.rows(); i++) {
                      if (accepts.test(i)) {
                        long bit = row + i - parts.first();
                        mask[(int) (bit / Byte.SIZE)] |= (byte) (1 << (bit % Byte.SIZE));
                      }
                    }
                  });
              return mask;
            });
    return parts.subset(masks);
  }

  private static String call(String method, String field) {
    Objects.requireNonNull(field, "field is null");
    return "%s(\"%s\")".formatted(method, field);
  }

  private static String callWhere(String field, Object value) {
    Objects.requireNonNull(field, "field is null");
    return "where(\"%s\", %s)".formatted(field, value);
  }

  private ColumnParts parts() {
    return new ColumnParts(variable, communicator);
  }

  /** Returns the number of rows, if an array can have as many elements. */
  private int length(String call) {
    if (variable.rows() > MAX_ARRAY) {
      throw new IllegalArgumentException(
          "%s: %,d rows, an array has at most %,d: use where(..), or a sampler without values"
              .formatted(call, variable.rows(), MAX_ARRAY));
    }
    return (int) variable.rows();
  }

  private ColumnReader reader(String call, String field, ColumnForm form) {
    return new ColumnReader(variable, form.check(call, variable.schema().field(field)));
  }

  private IllegalArgumentException illegal(String call, long row, Object value, String legal) {
    return new IllegalArgumentException(
        "%s: row %,d of \"%s\" has the value %s, legal: %s"
            .formatted(call, row, variable.name(), value, legal));
  }

  @Override
  public String toString() {
    return "Columns[%s on %s]".formatted(variable, communicator);
  }
}
