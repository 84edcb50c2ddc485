package org.ddstore.types;

/** The process of a rank has ended while others wait for it. */
public class RankLostException extends RankFailedException {
  private static final long serialVersionUID = 1L;

  public RankLostException(int rank, String message) {
    super(rank, message);
  }
}
