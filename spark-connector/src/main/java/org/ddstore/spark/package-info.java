// SPDX-License-Identifier: Apache-2.0
/** Stores made from DataFrames: specs, barrier jobs and resident stores. */
package org.ddstore.spark;
