package org.ddstore.transport;

/** Announces a {@link OneSidedTransport}, and opens it. Found as its supertype is. */
public interface OneSidedProvider extends TransportProvider {
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
   * @throws org.ddstore.DDStoreException if that fails
   */
  OneSidedTransport open(OneSidedChoice choice, PeerCalls calls);
}
