// SPDX-License-Identifier: Apache-2.0
/**
 * Batches on an accelerator: a loader's batches are copied to the device ahead of time; the entry
 * point is {@link org.ddstore.device.DeviceLoader}.
 */
package org.ddstore.device;
