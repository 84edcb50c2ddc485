package org.ddstore.types;

/** Thrown if the process of a rank ends while others wait for it. */
public class RankLostException extends RankFailedException {
  private static final long serialVersionUID = 1L;

  public RankLostException(int rank, String message) {
    super(rank, message);
  }
}
