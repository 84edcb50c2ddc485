// SPDX-License-Identifier: Apache-2.0
/**
 * The contract of a store, run over each backend and each way of running ranks: {@link
 * org.ddstore.contract.StoreContract} has one small subclass per backend.
 */
package org.ddstore.contract;
