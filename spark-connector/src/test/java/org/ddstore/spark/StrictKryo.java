// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark;

import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Settings of the serializer that rejects most: Kryo with required registration. */
public final class StrictKryo {
  /**
   * The serializer that rejects most: records, and classes that are not registered. Spark registers
   * its own, but for some types in the schemas that it infers from files and, before 4.1, for the
   * row without columns from which it computes constants.
   */
  public static final Map<String, String> SETTINGS =
      Map.of(
          "spark.serializer",
          "org.apache.spark.serializer.KryoSerializer",
          "spark.kryo.registrationRequired",
          "true",
          "spark.kryo.classesToRegister",
          Stream.of("Array", "Binary", "Boolean", "Byte", "Float", "Short", "Timestamp")
              .map("org.apache.spark.sql.types.%sType"::formatted)
              .flatMap(type -> Stream.of(type, type + "$"))
              .collect(
                  Collectors.joining(
                      ",", "", ",org.apache.spark.sql.catalyst.expressions.GenericInternalRow")));

  private StrictKryo() {}
}
