package org.ddstore.contract;

interface EpochContract extends Contract {}
