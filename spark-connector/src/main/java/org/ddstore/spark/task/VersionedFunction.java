// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import java.util.Iterator;
import org.apache.spark.api.java.function.FlatMapFunction;

/** A function of the connector on the partitions of an RDD of others. */
public record VersionedFunction<T, R>(Versioned<FlatMapFunction<Iterator<T>, R>> function)
    implements FlatMapFunction<Iterator<T>, R> {
  private static final long serialVersionUID = 1L;

  public static <T, R> VersionedFunction<T, R> of(FlatMapFunction<Iterator<T>, R> function) {
    return new VersionedFunction<>(Versioned.of(function));
  }

  @Override
  public Iterator<R> call(Iterator<T> elements) throws Exception {
    return function.value().call(elements);
  }
}
