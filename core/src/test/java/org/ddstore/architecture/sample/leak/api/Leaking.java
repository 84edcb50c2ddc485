// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.leak.api;

import java.util.List;
import org.ddstore.architecture.sample.leak.hidden.Hidden;
import org.ddstore.types.Internal;

/** Shows an internal type to users. */
public final class Leaking {
  /** Returns an internal type. */
  public Hidden returned() {
    return new Hidden();
  }

  /** Takes internal types. */
  public void taken(Hidden[] all) {
    all[0] = ofNoUser();
  }

  /** Returns internal types as a type argument. */
  public List<Hidden> listed() {
    return List.of(ofNoUser());
  }

  /** Returns an internal type; the annotation excludes the method from the API for users. */
  @Internal
  public Hidden marked() {
    return ofNoUser();
  }

  Hidden ofNoUser() {
    return new Hidden();
  }
}
