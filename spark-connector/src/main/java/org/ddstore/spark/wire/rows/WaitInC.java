// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.wire.rows;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Waits in C for channels, and for those of a selector. Used by one thread. */
abstract class WaitInC implements PollingWait.Channels {
  private final Selector selector;
  private final Consumer<SelectionKey> action;
  private final BooleanSupplier stop;
  private boolean selectorChanged = true;

  /**
   * @param action called for each channel of the selector that is ready
   * @param stop whether a wait ends without a channel, as in {@link PollingWait}
   */
  WaitInC(Selector selector, Consumer<SelectionKey> action, BooleanSupplier stop) {
    this.selector = selector;
    this.action = action;
    this.stop = stop;
  }

  /** Lets the selector take over changes of its keys before the next wait. */
  final void selectorChanged() {
    selectorChanged = true;
  }

  @Override
  public final int now() throws IOException {
    return waitBoth(0, 1);
  }

  @Override
  public final int await(long timeoutMs, int maxSleeps) throws IOException {
    return waitBoth(timeoutMs == 0 ? -1 : (int) Math.min(timeoutMs, Integer.MAX_VALUE), maxSleeps);
  }

  private int waitBoth(int timeoutMs, int mostWaits) throws IOException {
    int ready = 0;
    boolean mayWait = true;
    if (selectorChanged) {
      selectorChanged = false;
      ready = selector.selectNow(action);
      mayWait = ready == 0 && !stop.getAsBoolean(); // it discards wake-ups
    }
    boolean selected = ready > 0;
    ready += waitInC(mayWait ? timeoutMs : 0, mostWaits);
    boolean isSelectorReady = isSelectorReady();
    ready += handle();
    if (isSelectorReady) {
      ready += selected ? 0 : selector.selectNow(action);
      selectorChanged = true;
    }
    return ready;
  }

  /**
   * Waits for the channels in C and the selector.
   *
   * @param timeoutMs longest time in milliseconds; 0 not to wait, -1: unlimited
   * @param mostWaits number of short waits after which it returns, too
   * @return number of channels that C has handled
   */
  abstract int waitInC(int timeoutMs, int mostWaits) throws IOException;

  /** Returns whether the last wait found that the selector has ready channels, or was woken. */
  abstract boolean isSelectorReady();

  /** Handles what C left to Java in the last wait; returns the number of its channels. */
  abstract int handle();
}
