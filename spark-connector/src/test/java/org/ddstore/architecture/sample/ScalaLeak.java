// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample;

import java.util.List;
import scala.Option;
import scala.Tuple2;

/** Shows types of Scala to users. */
public final class ScalaLeak {
  /** Returns a type of Scala. */
  public Option<String> returned() {
    return Option.empty();
  }

  /** Takes a type of Scala as a type argument. */
  public int taken(List<Tuple2<String, String>> pairs) {
    return pairs.size();
  }
}
