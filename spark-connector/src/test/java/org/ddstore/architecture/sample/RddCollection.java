// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample;

import java.util.List;
import org.apache.spark.api.java.JavaRDD;

/** A job whose results the user's serializer sends. */
public final class RddCollection {
  private RddCollection() {}

  static List<String> collected(JavaRDD<String> rdd) {
    return rdd.collect();
  }
}
