// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

import java.util.List;
import java.util.Optional;

/** The offer of one rank to use a transport. */
@FunctionalInterface
public interface TransportOffer {
  /**
   * Returns what the other ranks must know of this one, a few bytes; see {@link
   * TransportChoice#MAX_OFFER_BYTES}.
   */
  default byte[] bytes() {
    return new byte[0];
  }

  /**
   * Returns the reason why the ranks cannot use the transport together; empty if they can. All
   * ranks must come to the same result, so it depends on {@code all} alone, except for the text.
   *
   * @param all {@link #bytes()} of all ranks, in rank order
   */
  default Optional<String> refusal(List<byte[]> all) {
    return Optional.empty();
  }

  /**
   * Opens the transport on this rank. Collective: all ranks call it after the same {@link
   * #refusal}.
   *
   * @param reason human-readable reason why this transport was chosen
   * @return transport that the caller closes
   */
  OpenTransport open(TransportStart start, String reason);
}
