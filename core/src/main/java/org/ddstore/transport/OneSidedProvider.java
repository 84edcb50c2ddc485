package org.ddstore.transport;

/** Announces a {@link OneSidedTransport}, and opens it. Found as its supertype is. */
public interface OneSidedProvider extends TransportProvider {
  /**
   * Whether this host has devices that serve reads in hardware. Cheap: no library is loaded for it,
   * so that processes that would not use it are left alone. Throws nothing.
   */
  Availability hardware();

  /**
   * What this process would use. Nothing is opened; blocks for at most some 100 ms, the first time.
   * Throws nothing.
   */
  OneSidedChoice choose(OneSidedOptions options);

  /**
   * Opens what was chosen.
   *
   * @param choice of {@link #choose}, one that is available
   * @param calls by which processes tell each other what they have registered
   * @throws org.ddstore.types.DDStoreException if that fails
   */
  OneSidedTransport open(OneSidedChoice choice, PeerCalls calls);
}
