// SPDX-License-Identifier: Apache-2.0
package org.ddstore.types;

/** Thrown if the driver of an accelerator refuses a call, or a copy to the device fails. */
public class DeviceException extends DDStoreException {
  private static final long serialVersionUID = 1L;

  private final int device;
  private final String errorName;
  private final int errorNumber;

  /**
   * Creates an exception.
   *
   * @param device number of the device
   * @param call call of the driver that failed, with its arguments
   * @param errorName driver's name of the error, such as {@code CUDA_ERROR_OUT_OF_MEMORY}
   * @param errorNumber driver's number of the error
   */
  public DeviceException(int device, String call, String errorName, int errorNumber) {
    super("device %d: %s: %s (%d)".formatted(device, call, errorName, errorNumber));
    this.device = device;
    this.errorName = errorName;
    this.errorNumber = errorNumber;
  }

  /** {@return the number of the device} */
  public int device() {
    return device;
  }

  /** {@return the driver's name of the error, such as {@code CUDA_ERROR_OUT_OF_MEMORY}} */
  public String errorName() {
    return errorName;
  }

  /** {@return the driver's number of the error} */
  public int errorNumber() {
    return errorNumber;
  }
}
